import { fork, type Serializable } from 'node:child_process'

/** Each process answers a task with one message. */
export async function runForked(
  worker: string,
  tasks: readonly Serializable[],
  jobs: number,
  onResult: (result: unknown) => void,
): Promise<void> {
  const waiting = [...tasks]
  const stop = new AbortController()

  const work = () =>
    new Promise<void>((resolve, reject) => {
      // Maps of a result go through structured clone, not through JSON.
      const child = fork(worker, { execArgv: [], serialization: 'advanced', signal: stop.signal })
      let task: Serializable | undefined
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
        if (task === undefined) resolve()
        else
          reject(
            new Error(
              `${JSON.stringify(task)} ended its process (${signal ?? code}) before its result`,
            ),
          )
      })
      next()
    })

  try {
    await Promise.all(Array.from({ length: Math.min(jobs, tasks.length) }, work))
  } finally {
    stop.abort()
  }
}
