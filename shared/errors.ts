export type ErrorCode =
  | 'auth'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'validation'
  | 'rate_limit'
  | 'network'
  | 'server_error'
  | 'internal_error'

/** Spec section 7, "Status to code mapping". */
export const HTTP_STATUS = {
  auth: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  validation: 422,
  rate_limit: 429,
  network: 502,
  server_error: 502,
  internal_error: 500,
} as const satisfies Record<ErrorCode, number>

export type FieldErrors = Readonly<Record<string, readonly string[]>>

/** The additional envelope fields of a refused payout (design section 11). */
type PayoutRefusal = {
  /** Figures that an operator must echo. */
  readonly confirm?: Readonly<Record<string, number | true>>
  readonly retryAt?: string
}

type GatewayErrorDetails = {
  readonly fieldErrors?: FieldErrors
  readonly actionHint?: string
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
} & PayoutRefusal

export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly fieldErrors: FieldErrors | undefined
  readonly actionHint: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly payout: PayoutRefusal

  constructor(code: ErrorCode, message: string, details: GatewayErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.fieldErrors = details.fieldErrors
    this.actionHint = details.actionHint
    this.retryAfterSeconds = details.retryAfterSeconds
    this.payout = {
      ...(details.confirm && { confirm: details.confirm }),
      ...(details.retryAt && { retryAt: details.retryAt }),
    }
  }
}

/** One text for an absent id and another client's id, so that a caller cannot distinguish them (spec section 7). */
export const notFound = (
  what:
    | 'payment'
    | 'settlement'
    | 'resource'
    | 'client'
    | 'endpoint'
    | 'delivery'
    | 'suspense item'
    | 'api key'
    | 'provider transaction',
) => new GatewayError('not_found', `${what} not found`)

export const invalid = (message: string, fieldErrors?: FieldErrors, actionHint?: string, payout: PayoutRefusal = {}) =>
  new GatewayError('validation', message, {
    ...(fieldErrors && { fieldErrors }),
    ...(actionHint !== undefined && { actionHint }),
    ...payout,
  })

/** The error envelope of spec section 7, for the public API and operators' actions. */
export type Envelope = {
  readonly message: string
  readonly code: string
  readonly field_errors?: FieldErrors
  readonly action_hint?: string
  readonly confirm?: PayoutRefusal['confirm']
  readonly retry_at?: string
}

type ErrorReply = {
  readonly status: number
  readonly body: Envelope
  readonly retryAfterSeconds: number | undefined
  /** False for an internal failure, which is logged with its cause. */
  readonly expected: boolean
}

/** Makes the reply to any thrown error. Details of unknown errors go only to the log. */
export const toErrorReply = (error: unknown): ErrorReply => {
  if (!(error instanceof GatewayError)) {
    return {
      status: HTTP_STATUS.internal_error,
      body: { message: 'internal error; retry, or quote the request id to support', code: 'internal_error' },
      retryAfterSeconds: undefined,
      expected: false,
    }
  }
  return {
    status: HTTP_STATUS[error.code],
    body: {
      message: error.message,
      code: error.code,
      ...(error.fieldErrors && { field_errors: error.fieldErrors }),
      ...(error.actionHint !== undefined && { action_hint: error.actionHint }),
      ...(error.payout.confirm && { confirm: error.payout.confirm }),
      ...(error.payout.retryAt !== undefined && { retry_at: error.payout.retryAt }),
    },
    retryAfterSeconds: error.retryAfterSeconds,
    expected: HTTP_STATUS[error.code] < 500,
  }
}

/** A state that must not occur. It is a bug; the code stops, because guessing with money is worse. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

export const assertInvariant: (holds: boolean, what: string) => asserts holds = (holds, what) => {
  if (!holds) throw new InvariantError(what)
}

/** Closes an exhaustive switch: a new member of the union does not compile. */
export const assertNever = (value: never): never => {
  throw new InvariantError(`unexpected value: ${String(value)}`)
}
