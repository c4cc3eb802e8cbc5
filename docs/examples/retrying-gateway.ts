/*
 * Sends a request to the gateway until the answer is final, or a deadline has passed. The table of
 * docs/merchants/errors.md says which errors may be retried, and when.
 */

export type RetryOptions = {
  readonly baseUrl: string
  readonly apiKey: string
  /** For all tries of one call together. */
  readonly deadlineMs?: number
  /** For one try. The gateway answers within 30 seconds. */
  readonly timeoutMs?: number
  /** For tests. */
  readonly fetch?: typeof fetch
  readonly clock?: Clock
}

type Clock = {
  readonly nowMs: () => number
  readonly wait: (ms: number) => Promise<void>
  /** From 0 up to 1. */
  readonly random: () => number
}

export type GatewayRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  readonly idempotencyKey?: string
  /**
   * A second POST would have a second effect. So it is retried only after a 429, which has no
   * effect.
   */
  readonly once?: boolean
}

/** The request failed: the gateway's last answer is an error, or there was no answer. */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused'
  /** 0 if there was no answer. */
  readonly status: number
  /** One of docs/merchants/errors.md. Undefined if a proxy answered instead of the gateway. */
  readonly code: string | undefined
  readonly fieldErrors: Readonly<Record<string, readonly string[]>> | undefined
  /** Quote it to the operator. */
  readonly requestId: string | undefined
  /** The key of a create that may still succeed. Retry with this key, never with another one. */
  readonly idempotencyKey: string | undefined

  constructor(message: string, facts: Omit<GatewayRefused, keyof Error>, cause?: unknown) {
    super(message, { cause })
    this.status = facts.status
    this.code = facts.code
    this.fieldErrors = facts.fieldErrors
    this.requestId = facts.requestId
    this.idempotencyKey = facts.idempotencyKey
  }
}

/** The error codes that allow a retry. */
export const RETRIED_CODES: readonly string[] = [
  'rate_limit',
  'internal_error',
  'network',
  'server_error',
]

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 16_000

const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  wait: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms)
    }),
  random: Math.random,
}

/**
 * Returns the JSON of a success. Throws `GatewayRefused` if no retry is allowed, or the deadline
 * has passed. Throws a `TypeError`, and sends nothing, if the key is empty, or no header can have
 * it.
 */
export function retryingGateway(options: RetryOptions) {
  const { deadlineMs = 60_000, timeoutMs = 35_000, clock = SYSTEM_CLOCK } = options

  return async <Answer>(request: GatewayRequest): Promise<Answer> => {
    const headers = headersOf(options.apiKey, request)
    const deadline = clock.nowMs() + deadlineMs
    for (let tries = 1; ; tries += 1) {
      // Clocks give fractions of a millisecond, and an abort signal takes only whole ones.
      const leftMs = Math.max(1, Math.ceil(deadline - clock.nowMs()))
      const outcome = await tryOnce(options, { ...request, headers }, Math.min(timeoutMs, leftMs))
      if (outcome.ok) return outcome.answer
      const waitMs = Math.max(outcome.retryAfterMs, jittered(tries, clock))
      if (!outcome.mayRetry || clock.nowMs() + waitMs >= deadline) throw outcome.error
      await clock.wait(waitMs)
    }
  }
}

function headersOf(apiKey: string, { body, idempotencyKey }: GatewayRequest): Headers {
  // The gateway takes an empty key for none, so each retry could create another payment.
  if (idempotencyKey?.trim() === '') throw new TypeError('the idempotency key is empty')
  return new Headers({
    authorization: `Bearer ${apiKey}`,
    ...(body && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  })
}

/** The answer is assumed to have the type of the API's description. It is not checked. */
type Answered = { readonly ok: true; readonly answer: ReturnType<JSON['parse']> }

type Failed = {
  readonly ok: false
  readonly mayRetry: boolean
  readonly retryAfterMs: number
  readonly error: GatewayRefused
}

async function tryOnce(
  { baseUrl, fetch: send = fetch }: RetryOptions,
  {
    method,
    path,
    query = {},
    headers,
    body,
    idempotencyKey,
    once = false,
  }: GatewayRequest & { readonly headers: Headers },
  timeoutMs: number,
): Promise<Failed | Answered> {
  const url = new URL(path, baseUrl)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  // Not every server reads a plus as a space.
  url.search = url.search.replaceAll('+', '%20')
  const late = deadlineOf(timeoutMs)
  const read = async () => {
    const response = await send(url, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: late.signal,
    })
    return { response, text: await response.text() }
  }
  try {
    const { response, text } = await Promise.race([read(), late.passed])
    if (response.ok) return { ok: true, answer: JSON.parse(text) }
    return refusal(response, text, { idempotencyKey, once })
  } catch (error) {
    const nothing = {
      status: 0,
      code: undefined,
      fieldErrors: undefined,
      requestId: undefined,
      idempotencyKey,
    }
    const reason = error instanceof Error ? error.message : String(error)
    return {
      ok: false,
      mayRetry: !once,
      retryAfterMs: 0,
      error: new GatewayRefused(`no answer: ${reason}`, nothing, error),
    }
  } finally {
    late.end()
  }
}

/** It ends the try even if the request does not notice that it is aborted. */
function deadlineOf(ms: number) {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${ms} ms`)
      controller.abort(error)
      reject(error)
    }, ms)
  })
  return { signal: controller.signal, passed, end: () => clearTimeout(timer) }
}

type RetryRules = { readonly idempotencyKey: string | undefined; readonly once: boolean }

function refusal(
  { status, headers }: Response,
  text: string,
  { idempotencyKey, once }: RetryRules,
): Failed {
  const envelope = envelopeIn(text)
  const facts = {
    status,
    code: envelope.code,
    fieldErrors: envelope.field_errors,
    requestId: headers.get('x-request-id') ?? undefined,
    idempotencyKey,
  }
  const isTemporary =
    envelope.code === undefined
      ? status === 429 || status >= 500
      : RETRIED_CODES.includes(envelope.code)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    ok: false,
    // A 429 refuses the request before it has an effect.
    mayRetry: isTemporary && (!once || status === 429),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0,
    error: new GatewayRefused(envelope.message ?? `HTTP status ${status}`, facts),
  }
}

type Envelope = {
  readonly code?: string
  readonly message?: string
  readonly field_errors?: Readonly<Record<string, readonly string[]>>
}

/** The body of an error. Empty if it is not JSON, because a proxy may have answered. */
function envelopeIn(text: string): Envelope {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

/** 1, 2, 4, 8, then 16 seconds, each shortened at random by up to half. */
function jittered(tries: number, { random }: Clock): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (1 - random() / 2)
}
