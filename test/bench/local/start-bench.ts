import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import * as v from 'valibot'

const Ready = v.object({
  api: v.string(),
  lambda: v.optional(v.string(), ''),
  provider: v.string(),
  table: v.optional(v.object({ endpoint: v.string(), name: v.string() })),
})
export type Program = v.InferOutput<typeof Ready> & { end(): Promise<void> }
export type Bench = Pick<HttpCaller, 'call'> & { readonly gateway: Program }

const READY_WITHIN_MS = 60_000
const END_WITHIN_MS = 15_000

/** Starts a program of the bench as a process of its own, and waits for the addresses it answers at. */
export const startProgram = async (file: string, args: readonly string[] = []): Promise<Program> => {
  const child = fork(file, [...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const signal = AbortSignal.timeout(READY_WITHIN_MS)
  const gone = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended before it was ready`)))
  const [message]: unknown[] = await Promise.race([once(child, 'message', { signal }), gone])
  gone.catch(() => undefined)
  return { ...v.parse(Ready, message), end: () => end(child) }
}

/** Starts the local gateway with a caller; both end with the stack. */
export const startBench = async (started: AsyncDisposableStack): Promise<Bench> => {
  const { call, close } = httpCaller()
  started.defer(close)
  const gateway = await startProgram(join(import.meta.dirname, 'gateway-program.ts'))
  started.defer(() => gateway.end())
  return { call, gateway }
}

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.disconnect()
  const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS)
  await exited
  clearTimeout(late)
}

type Call = {
  readonly method: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** The answer must have this status: figures of refusals would be too good. */
  readonly wanted?: number
}

const isReset = (error: Error): boolean => 'code' in error && error.code === 'ECONNRESET'

/** Calls over connections that are kept, with as little of its own as Node allows: the caller shares the machine. */
export const httpCaller = () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const call = (asked: Call): Promise<string> =>
    new Promise((resolve, reject) => {
      const { method, url, headers = {}, body, wanted = 200 } = asked
      const sent = request(url, { method, agent, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => {
          if (answer.statusCode === wanted) return resolve(text)
          reject(new Error(`${method} ${url} was answered ${answer.statusCode}: ${text}`))
        })
        answer.on('error', reject)
      })
      sent.setTimeout(60_000, () => sent.destroy(new Error(`${method} ${url} had no answer in a minute`)))
      // The server may close a kept connection in the moment it is used again: nothing was answered on it.
      sent.on('error', (error) => (sent.reusedSocket && isReset(error) ? resolve(call(asked)) : reject(error)))
      sent.end(body)
    })
  return { call, close: () => agent.destroy() }
}

export type HttpCaller = ReturnType<typeof httpCaller>
