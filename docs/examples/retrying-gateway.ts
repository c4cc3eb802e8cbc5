/*
 * Asks the gateway until it has an answer that settles the matter, or until a deadline: what may be tried again, and
 * when, is the table of docs/merchants/errors.md.
 */

export type RetryOptions = {
  readonly baseUrl: string
  readonly apiKey: string
  /** For all tries of one call together. */
  readonly deadlineMs?: number
  /** For one try; the gateway answers within 30 seconds. */
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

export type Question = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  readonly idempotencyKey?: string
  /** For a POST of which a second one would act twice: tried again only when the first was not let in. */
  readonly once?: boolean
}

/** The last answer that was no success, or that there was none. */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused'
  /** 0 when nothing came back. */
  readonly status: number
  /** One of docs/merchants/errors.md; undefined when what answered was not the gateway. */
  readonly code: string | undefined
  readonly fieldErrors: Readonly<Record<string, readonly string[]>> | undefined
  /** To be quoted to the operator. */
  readonly requestId: string | undefined
  /** Under which a create may still come to something: ask again with it, never with another. */
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

/** The codes that may be tried again. */
export const RETRIED_CODES: readonly string[] = ['rate_limit', 'internal_error', 'network', 'server_error']

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

/** Answers the JSON of a success. Throws `GatewayRefused` for what cannot be tried again, or no longer. */
export const retryingGateway = (options: RetryOptions) => {
  const { deadlineMs = 60_000, timeoutMs = 35_000, clock = SYSTEM_CLOCK } = options

  return async <Answer>(question: Question): Promise<Answer> => {
    const deadline = clock.nowMs() + deadlineMs
    for (let tries = 1; ; tries += 1) {
      const leftMs = deadline - clock.nowMs()
      const outcome = await tryOnce(options, question, Math.max(1, Math.min(timeoutMs, leftMs)))
      if (outcome.ok) return outcome.answer
      const waitMs = Math.max(outcome.retryAfterMs, jittered(tries, clock))
      if (!outcome.mayRetry || clock.nowMs() + waitMs >= deadline) throw outcome.refused
      await clock.wait(waitMs)
    }
  }
}

/** 1, 2, 4, 8, 16 seconds, each by a random part of up to a half shorter. */
const jittered = (tries: number, { random }: Clock): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (1 - random() / 2)

/** As the description of the API says; nothing checks it here. */
type Answered = { readonly ok: true; readonly answer: ReturnType<JSON['parse']> }

type Failed = {
  readonly ok: false
  readonly mayRetry: boolean
  readonly retryAfterMs: number
  readonly refused: GatewayRefused
}

const tryOnce = async (
  { baseUrl, apiKey, fetch: send = fetch }: RetryOptions,
  { method, path, query = {}, body, idempotencyKey, once = false }: Question,
  timeoutMs: number,
): Promise<Failed | Answered> => {
  const url = new URL(path, baseUrl)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  // Not every gateway reads a plus as a space.
  url.search = url.search.replaceAll('+', '%20')
  try {
    const response = await send(url, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    if (response.ok) return { ok: true, answer: JSON.parse(text) }
    return refusal(response, text, { idempotencyKey, once })
  } catch (error) {
    const nothing = { status: 0, code: undefined, fieldErrors: undefined, requestId: undefined, idempotencyKey }
    const reason = error instanceof Error ? error.message : String(error)
    return {
      ok: false,
      mayRetry: !once,
      retryAfterMs: 0,
      refused: new GatewayRefused(`no answer: ${reason}`, nothing, error),
    }
  }
}

type Asked = Pick<Question, 'idempotencyKey' | 'once'>

const refusal = ({ status, headers }: Response, text: string, { idempotencyKey, once }: Asked): Failed => {
  const envelope = envelopeIn(text)
  const facts = {
    status,
    code: envelope.code,
    fieldErrors: envelope.field_errors,
    requestId: headers.get('x-request-id') ?? undefined,
    idempotencyKey,
  }
  const mayPass = envelope.code === undefined ? status === 429 || status >= 500 : RETRIED_CODES.includes(envelope.code)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    ok: false,
    // A request over the rate was not let in: it has done nothing.
    mayRetry: mayPass && (once !== true || status === 429),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0,
    refused: new GatewayRefused(envelope.message ?? `it answered ${status}`, facts),
  }
}

type Envelope = {
  readonly code?: string
  readonly message?: string
  readonly field_errors?: Readonly<Record<string, readonly string[]>>
}

/** What answers in between the gateway and us may be no JSON. */
const envelopeIn = (text: string): Envelope => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}
