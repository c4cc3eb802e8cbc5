export type FairLimits = { readonly total: number; readonly perGroup: number }

type Group = { readonly waiting: (() => Promise<void>)[]; running: number }

/**
 * Runs tasks so that no group waits for slow tasks of another group. Groups share the slots round-robin, and each has a
 * limit. So an endpoint that times out occupies only its own few slots. Within a group, tasks start in order of
 * arrival. Tasks handle their own errors.
 */
export function fairSchedule({ total, perGroup }: FairLimits) {
  // In round-robin order. Only groups with a running or a waiting task are here, so few of them are at their limit.
  const groups = new Map<string, Group>()
  const running = new Set<Promise<void>>()
  let closed = false

  const start = (name: string, group: Group, task: () => Promise<void>) => {
    group.running++
    const done = task().finally(() => {
      running.delete(done)
      // The round-robin skips a group at its limit. After that, the group goes to the end.
      const goesToEnd = group.running === perGroup
      group.running--
      if (goesToEnd || group.running + group.waiting.length === 0) groups.delete(name)
      if (group.running + group.waiting.length > 0) groups.set(name, group)
      startNext()
    })
    running.add(done)
  }

  const startNext = () => {
    for (const [name, group] of groups) {
      if (running.size >= total) return
      const task = group.running < perGroup ? group.waiting.shift() : undefined
      if (!task) continue
      // The group goes to the end. This loop reaches it again there.
      groups.delete(name)
      groups.set(name, group)
      start(name, group, task)
    }
  }

  /** Resolves after the running tasks have ended. */
  const settled = async () => {
    await Promise.allSettled(running)
  }

  return {
    add: (name: string, task: () => Promise<void>): void => {
      if (closed) return
      const group = groups.get(name) ?? { waiting: [], running: 0 }
      group.waiting.push(task)
      groups.set(name, group)
      startNext()
    },
    settled,
    /** Starts no more tasks, drops the waiting ones, and resolves after the running ones have ended. */
    close: async () => {
      closed = true
      for (const group of groups.values()) group.waiting.length = 0
      await settled()
    },
  }
}
