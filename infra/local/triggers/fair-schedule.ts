export type FairLimits = {
  /** Concurrent tasks of all groups. */
  readonly total: number
  /** Concurrent tasks of one group. */
  readonly perGroup: number
}

/** Runs tasks so that no group waits for slow tasks of another group. */
export type FairSchedule = {
  add(group: string, task: () => Promise<void>): void
  running(): number
  waiting(): number
  /** Resolves after the running tasks have ended. */
  readonly settled: () => Promise<void>
  /** Starts no more tasks, drops the waiting ones, and resolves after the running ones have ended. */
  close(): Promise<void>
}

type Group = { readonly waiting: (() => Promise<void>)[]; running: number }

/**
 * Groups share the slots round-robin, and each has a limit. So an endpoint whose requests all time out occupies only
 * its own few slots. Within a group, tasks start in order of arrival. Tasks handle their own errors.
 */
export const fairSchedule = (limits: FairLimits): FairSchedule => {
  const groups = new Map<string, Group>()
  // Groups with a waiting task and a free slot, next one first. A group goes to the end after it has started a task.
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
      // A group at its limit is not in `turns`. It returns now that it is below the limit.
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
