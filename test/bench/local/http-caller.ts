import { Agent, request } from 'node:http'

type Call = {
  readonly method: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** The answer must have this status: figures of refusals would be too good. */
  readonly wanted?: number | undefined
}

export type HttpAnswer = { readonly status: number; readonly text: string }

const isReset = (error: Error): boolean => 'code' in error && error.code === 'ECONNRESET'

/** Calls over connections that are kept, with as little of its own as Node allows: the caller shares the machine. */
export const httpCaller = () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const call = (asked: Call): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const { method, url, headers = {}, body, wanted } = asked
      const sent = request(url, { method, agent, headers }, (answer) => {
        const { statusCode: status = 0 } = answer
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => {
          if (wanted === undefined || status === wanted) return resolve({ status, text })
          reject(new Error(`${method} ${url} was answered ${status}: ${text}`))
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
