import { fork, type Serializable } from 'node:child_process'

/**
 * Each process answers a task with one message. A process that ends before its answer is replaced,
 * and `onLost` gets its task.
 */
export async function runForked<T extends Serializable>(
  worker: string,
  tasks: readonly T[],
  jobs: number,
  onResult: (result: unknown) => void,
  onLost: (task: T, reason: string) => void,
) {
  const waiting = [...tasks]
  const stop = new AbortController()

  const work = () =>
    new Promise<void>((resolve, reject) => {
      // Maps of a result go through structured clone, not through JSON.
      const child = fork(worker, { execArgv: [], serialization: 'advanced', signal: stop.signal })
      let task: T | undefined
      const next = () => {
        task = waiting.shift()
        if (task === undefined) child.disconnect()
        else child.send(task)
      }
      child.on('message', (message) => {
        onResult(message)
        next()
      })
      child.once('error', reject)
      child.once('exit', (code, signal) => {
        if (task === undefined) return resolve()
        onLost(task, `its process ended (${signal ?? code}) before its result`)
        resolve(work())
      })
      next()
    })

  try {
    await Promise.all(Array.from({ length: Math.min(jobs, tasks.length) }, work))
  } finally {
    stop.abort()
  }
}
