import { Agent, request } from 'node:http'
import type { OutgoingCallback } from './callbacks.ts'

// What the provider waits for an answer, in real time.
const ATTEMPT_TIMEOUT_MS = 30_000

export type CallbackSenderOptions = {
  readonly url: () => string
  readonly timeoutMs?: number
}

/**
 * Posts callbacks over HTTP, a bounded number at a time. `send` resolves with the status, and rejects on a network error
 * or when the answer is not there within the timeout. Closing it rejects what is under way.
 */
export const createCallbackSender = ({ url, timeoutMs = ATTEMPT_TIMEOUT_MS }: CallbackSenderOptions) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const closing = new AbortController()

  const send = ({ headers, body }: OutgoingCallback) =>
    new Promise<number>((resolve, reject) => {
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([closing.signal, timeout])
      const options = {
        agent,
        method: 'POST',
        signal,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      }
      const call = request(url(), options, (response) => {
        // The status is the answer; the rest is read only to free the connection.
        response.on('error', reject).resume()
        resolve(response.statusCode ?? 0)
      })
      call.on('error', reject)
      call.end(body)
    })

  const close = () => {
    closing.abort()
    agent.destroy()
  }

  return { send, close }
}
