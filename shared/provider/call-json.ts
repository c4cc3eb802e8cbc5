import * as v from 'valibot'

/** A JSON call to the provider. The URL and the headers carry secrets and never leave this file. */
export type HttpCall = {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
  /** For the whole exchange, from name lookup to the last byte of the answer. */
  readonly timeoutMs: number
}

export type RateLimit = { readonly remaining: number; readonly resetMs: number }

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

const Text = v.fallback(v.optional(v.string()), undefined)
const CauseSchema = v.fallback(v.object({ code: Text, syscall: Text }), {
  code: undefined,
  syscall: undefined,
})

// The certificate is checked before the first byte of the request is sent.
const BEFORE_SENDING =
  /^(UND_ERR_CONNECT_TIMEOUT|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_)/

/**
 * Calls once and follows no redirect with our credentials. Never throws; a failure is a bare error
 * code.
 */
export async function callJson({
  method,
  url,
  headers,
  body,
  timeoutMs,
}: HttpCall): Promise<HttpOutcome> {
  // A deadline's remaining time may have fractions, which a timer refuses.
  const signal = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs)))
  const jsonType = 'application/json'
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, accept: jsonType, ...(body && { 'content-type': jsonType }) },
      redirect: 'manual',
      signal,
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status } = response
    const header = (name: string) => response.headers.get(name)
    // A 429 may have the Retry-After header alone.
    const retryAfter = (status === 429 && header('retry-after')) || ''
    const retryLimit = WHOLE.test(retryAfter)
      ? { remaining: 0, resetMs: Number(retryAfter) * 1_000 }
      : undefined
    const rateLimit = rateLimitOf(header) ?? retryLimit
    return {
      kind: 'answered',
      status,
      json: await readJson(response),
      ...(rateLimit && { rateLimit }),
    }
  } catch (error) {
    if (signal.aborted) return { kind: 'lost', reason: 'timeout' }
    const cause = error instanceof Error ? error.cause : undefined
    // There are several causes if `fetch` tried several addresses of the host.
    const rawCauses: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
    const causes = rawCauses.map((raw) => v.parse(CauseSchema, raw))
    // A reset or closed connection does not count: it may happen after the provider accepted the
    // request.
    const notSent = causes.every(
      ({ code = '', syscall = '' }) =>
        ['connect', 'getaddrinfo'].includes(syscall) || BEFORE_SENDING.test(code),
    )
    return {
      kind: notSent && causes.length > 0 ? 'not_sent' : 'lost',
      reason: causes[0]?.code ?? 'network error',
    }
  }
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
  return { remaining: Number(remaining), resetMs: Math.ceil(Number(reset) * 1_000) }
}

async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) return undefined
      chunks.push(chunk)
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    // The status is known; the caller decides what it means without a body.
    return undefined
  }
}
