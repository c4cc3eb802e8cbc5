import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Task, TaskResult } from './tasks.ts'

const WORKER = join(import.meta.dirname, 'task-worker.ts')

/** Runs tasks in `jobs` processes. Rejects when a process ends before its result, and then ends the others. */
export const runTasks = async (
  tasks: readonly Task[],
  jobs: number,
  onResult: (result: TaskResult) => void,
): Promise<void> => {
  const waiting = [...tasks]
  const stop = new AbortController()

  const work = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(WORKER, { execArgv: [], signal: stop.signal })
      let task: Task | undefined
      const next = () => {
        task = waiting.shift()
        if (task === undefined) child.disconnect()
        else child.send(task)
      }
      child.on('message', (message) => {
        onResult(message as TaskResult)
        next()
      })
      child.once('error', reject)
      child.once('exit', (code, signal) => {
        if (task === undefined) resolve()
        else reject(new Error(`"${task.scenario}" ended its process (${signal ?? code}) before its result`))
      })
      next()
    })

  try {
    await Promise.all(Array.from({ length: Math.min(jobs, tasks.length) }, work))
  } finally {
    stop.abort()
  }
}
