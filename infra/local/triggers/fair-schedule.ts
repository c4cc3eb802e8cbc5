export type FairLimits = { readonly total: number; readonly perGroup: number }

type Group = { readonly waitingTasks: (() => Promise<void>)[]; runningCount: number }

/**
 * Groups share the slots round-robin, each with a limit, so an endpoint that times out occupies
 * only its own few slots. Within a group, tasks start in order of arrival. Tasks handle their own
 * errors.
 */
export function fairSchedule({ total, perGroup }: FairLimits) {
  // Round-robin. Only groups with a running or a waiting task are here, so few are at their limit.
  const groups = new Map<string, Group>()
  const runningTasks = new Set<Promise<void>>()
  let isClosed = false
  let pauses = 0

  const start = (name: string, group: Group, task: () => Promise<void>) => {
    group.runningCount++
    const taskEnd = task().finally(() => {
      runningTasks.delete(taskEnd)
      const goesToEnd = group.runningCount === perGroup
      group.runningCount--
      if (goesToEnd || group.runningCount + group.waitingTasks.length === 0) groups.delete(name)
      if (group.runningCount + group.waitingTasks.length > 0) groups.set(name, group)
      startNext()
    })
    runningTasks.add(taskEnd)
  }

  const startNext = () => {
    for (const [name, group] of groups) {
      if (pauses > 0 || runningTasks.size >= total) return
      const task = group.runningCount < perGroup ? group.waitingTasks.shift() : undefined
      if (!task) continue
      // This loop reaches the group again at the end.
      groups.delete(name)
      groups.set(name, group)
      start(name, group, task)
    }
  }

  /** Resolves after the running tasks have ended. No other starts before `pauseEnd` resolves. */
  const tasksEnded = async (pauseEnd = Promise.resolve()) => {
    pauses++
    void pauseEnd.then(() => {
      pauses--
      startNext()
    })
    await Promise.allSettled(runningTasks)
  }

  return {
    add: (name: string, task: () => Promise<void>) => {
      if (isClosed) return
      const group = groups.get(name) ?? { waitingTasks: [], runningCount: 0 }
      group.waitingTasks.push(task)
      groups.set(name, group)
      startNext()
    },
    tasksEnded,
    /** Drops the waiting tasks, and resolves after the running ones have ended. */
    close: async () => {
      isClosed = true
      for (const group of groups.values()) group.waitingTasks.length = 0
      await tasksEnded()
    },
  }
}
