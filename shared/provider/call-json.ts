import * as http from 'node:http'
import * as https from 'node:https'

/** A JSON call to the provider. The URL and the headers carry secrets and never leave this file. */
export type HttpCall = {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
  /**
   * A connection may be closed by the other side at any moment between two calls, so a call whose
   * loss costs a customer's payment gets a connection of its own.
   */
  readonly freshConnection?: true
  /** For the whole exchange, from name lookup to the last byte of the answer. */
  readonly timeoutMs: number
}

export type RateLimit = {
  readonly remaining: number
  readonly resetMs: number
  /** Calls in the provider's window. */
  readonly limit?: number
}

export type HttpOutcome =
  /** `json` is undefined when the body is not JSON, is truncated or exceeds the size limit. */
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly json: unknown
      readonly rateLimit?: RateLimit
    }
  /** No connection was made, so the provider did nothing. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** No answer arrived, but the provider may have executed the request. */
  | { readonly kind: 'lost'; readonly reason: string }

const MAX_ANSWER_BYTES = 1024 * 1024

const WHOLE = /^\d{1,9}$/

/**
 * Calls once and follows no redirect with our credentials. Never throws; a failure is a bare error
 * code.
 */
export async function callJson(call: HttpCall): Promise<HttpOutcome> {
  // Node refused the request; its error may quote it.
  const answer = await sendRequest(call).catch(
    () => ({ kind: 'not_sent', reason: 'network error' }) as const,
  )
  if ('kind' in answer) return answer
  const { statusCode: status = 0, headers } = answer
  const header = (name: string) => headers[name]?.toString()
  // A 429 may have the Retry-After header alone, or neither.
  const rateLimit = rateLimitOf(header) ?? (status === 429 ? retryLimitOf(header) : undefined)
  return { kind: 'answered', status, json: await readJson(answer), ...(rateLimit && { rateLimit }) }
}

/** Calls in a row share a connection. The provider closes an idle one only after a second. */
const KEPT = { keepAlive: true, timeout: 1_000 }
const SECURE = {
  request: https.request,
  agent: new https.Agent(KEPT),
  // It keeps no connection, but resumes the TLS sessions of earlier ones.
  freshAgent: new https.Agent({ keepAlive: false }),
  ready: 'secureConnect',
}
const PLAIN = {
  request: http.request,
  agent: new http.Agent(KEPT),
  freshAgent: new http.Agent({ keepAlive: false }),
  ready: 'connect',
}

const JSON_TYPE = 'application/json'

/** Writes nothing before the connection is ready, so a failure before that is `not_sent`. */
function sendRequest({ method, url, headers, body, timeoutMs, freshConnection }: HttpCall) {
  return new Promise<http.IncomingMessage | Exclude<HttpOutcome, { kind: 'answered' }>>(
    (resolve) => {
      const text = body && JSON.stringify(body)
      // A deadline's remaining time may have fractions, which a timer refuses.
      const signal = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs)))
      const { request, agent, freshAgent, ready } = url.protocol === 'https:' ? SECURE : PLAIN
      const outgoing = request(url, {
        method,
        headers: {
          ...headers,
          accept: JSON_TYPE,
          // Without it a proxy may choose a coding, which nothing here decodes.
          'accept-encoding': 'identity',
          'user-agent': 'node',
          ...(text && { 'content-type': JSON_TYPE }),
        },
        agent: freshConnection ? freshAgent : agent,
        signal,
      })
      let isSent = false
      const send = () => {
        isSent = true
        outgoing.end(text)
      }
      const fail = (error?: NodeJS.ErrnoException) =>
        resolve({
          kind: isSent ? 'lost' : 'not_sent',
          reason: signal.aborted ? 'timeout' : (error?.code ?? 'network error'),
        })
      outgoing
        .on('socket', (socket) => (outgoing.reusedSocket ? send() : socket.once(ready, send)))
        .on('response', resolve)
        .on('error', fail)
        // Node closes an answer in another protocol.
        .on('close', fail)
    },
  )
}

/** The pause after a 429 that gives no time. */
const UNKNOWN_PAUSE_MS = 5_000

/** Seconds, or a date, which counts from the date of the answer. */
function retryLimitOf(header: (name: string) => string | undefined): RateLimit {
  const retryAfter = header('retry-after') ?? ''
  const waitMs = WHOLE.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - Date.parse(header('date') ?? '')
  return { remaining: 0, resetMs: waitMs >= 0 ? waitMs : UNKNOWN_PAUSE_MS }
}

const SECONDS = /^\d{1,9}(\.\d{1,9})?$/

/**
 * Reads an answer's Rate-Limit headers; undefined if they are missing or not of the documented
 * form.
 */
export function rateLimitOf(
  header: (name: string) => string | null | undefined,
): RateLimit | undefined {
  const remaining = header('rate-limit-remaining') ?? ''
  const reset = header('rate-limit-reset') ?? ''
  if (!WHOLE.test(remaining) || !SECONDS.test(reset)) return undefined
  const limit = header('rate-limit-limit') ?? ''
  return {
    remaining: Number(remaining),
    resetMs: Math.ceil(Number(reset) * 1_000),
    ...(WHOLE.test(limit) && { limit: Number(limit) }),
  }
}

async function readJson(response: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) return undefined
      chunks.push(chunk)
    }
    return JSON.parse(withoutMark(Buffer.concat(chunks).toString('utf8')))
  } catch {
    // The status is known; the caller decides what it means without a body.
    return undefined
  }
}

/** `JSON.parse` refuses a byte order mark, which some servers and proxies write first. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
