export type FairLimits = {
  /** Tasks running at once, of all groups. */
  readonly total: number
  /** Tasks running at once of one group. */
  readonly perGroup: number
}

/** Runs tasks so that no group waits for another one's slow tasks. */
export type FairSchedule = {
  add(group: string, task: () => Promise<void>): void
  running(): number
  waiting(): number
  /** Resolves when the tasks that run now are done. */
  readonly settled: () => Promise<void>
  /** Starts no more tasks, forgets those that wait, and resolves when the running ones are done. */
  close(): Promise<void>
}

type Group = { readonly waiting: (() => Promise<void>)[]; running: number }

/**
 * Groups take turns for free slots, and each may hold only some of them: a dead endpoint whose every request takes the
 * full timeout keeps its own few slots busy and nobody else's. Within a group, tasks start in the order they came.
 * Tasks handle their own errors.
 */
export const fairSchedule = (limits: FairLimits): FairSchedule => {
  const groups = new Map<string, Group>()
  // Groups that have something to start and may: the front one is next, and goes to the back when it has had its turn.
  const turns: string[] = []
  const running = new Set<Promise<void>>()
  let waiting = 0
  let closed = false

  const groupOf = (name: string): Group => {
    const known = groups.get(name)
    if (known) return known
    const made: Group = { waiting: [], running: 0 }
    groups.set(name, made)
    return made
  }

  const mayStart = (group: Group) => group.waiting.length > 0 && group.running < limits.perGroup

  const start = (name: string, group: Group, task: () => Promise<void>) => {
    group.running++
    waiting--
    const done = task().finally(() => {
      running.delete(done)
      group.running--
      if (group.running === 0 && group.waiting.length === 0) groups.delete(name)
      // It was out of the turns exactly because it had reached its limit.
      else if (group.running === limits.perGroup - 1 && mayStart(group)) turns.push(name)
      startNext()
    })
    running.add(done)
  }

  const startNext = () => {
    while (running.size < limits.total) {
      const name = turns.shift()
      const group = name === undefined ? undefined : groups.get(name)
      if (name === undefined || group === undefined) return
      const task = group.waiting.shift()
      if (task) start(name, group, task)
      if (mayStart(group)) turns.push(name)
    }
  }

  const settled = async () => {
    await Promise.allSettled(running)
  }

  return {
    add: (name, task) => {
      if (closed) return
      const group = groupOf(name)
      const inTurns = mayStart(group)
      group.waiting.push(task)
      waiting++
      if (!inTurns && mayStart(group)) turns.push(name)
      startNext()
    },
    running: () => running.size,
    waiting: () => waiting,
    settled,
    close: async () => {
      closed = true
      for (const group of groups.values()) group.waiting.length = 0
      turns.length = 0
      waiting = 0
      await settled()
    },
  }
}
