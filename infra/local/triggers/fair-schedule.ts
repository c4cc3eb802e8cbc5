export type FairLimits = { readonly total: number; readonly perGroup: number }

type Group = { readonly waitingTasks: (() => Promise<void>)[]; runningCount: number }

/**
 * Runs tasks so that no group waits for slow tasks of another group. Groups share the slots
 * round-robin, and each group has a limit. So an endpoint that times out occupies only its own few
 * slots. Within a group, tasks start in order of arrival. Tasks handle their own errors.
 */
export function fairSchedule({ total, perGroup }: FairLimits) {
  // In round-robin order. Only groups with a running or a waiting task are here, so few of them are
  // at their limit.
  const groups = new Map<string, Group>()
  const runningTasks = new Set<Promise<void>>()
  let isClosed = false

  const start = (name: string, group: Group, task: () => Promise<void>) => {
    group.runningCount++
    const taskEnd = task().finally(() => {
      runningTasks.delete(taskEnd)
      // The round-robin skips a group at its limit. After that, the group goes to the end.
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
      if (runningTasks.size >= total) return
      const task = group.runningCount < perGroup ? group.waitingTasks.shift() : undefined
      if (!task) continue
      // The group goes to the end. This loop reaches the group again there.
      groups.delete(name)
      groups.set(name, group)
      start(name, group, task)
    }
  }

  const tasksEnded = async () => {
    await Promise.allSettled(runningTasks)
  }

  return {
    add: (name: string, task: () => Promise<void>): void => {
      if (isClosed) return
      const group = groups.get(name) ?? { waitingTasks: [], runningCount: 0 }
      group.waitingTasks.push(task)
      groups.set(name, group)
      startNext()
    },
    tasksEnded,
    /**
     * Starts no more tasks, drops the waiting tasks, and resolves after the running tasks have
     * ended.
     */
    close: async () => {
      isClosed = true
      for (const group of groups.values()) group.waitingTasks.length = 0
      await tasksEnded()
    },
  }
}
