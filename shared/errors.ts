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
} as const
export type ErrorCode = keyof typeof HTTP_STATUS

export type FieldErrors = Readonly<Record<string, readonly string[]>>

type Details = {
  readonly fieldErrors?: FieldErrors | undefined
  readonly actionHint?: string | undefined
  readonly retryAfterSeconds?: number
  /** Figures that need an approval, and when to repeat a refused payout (design section 11). */
  readonly confirm?: Readonly<Record<string, number | string | null>>
  readonly retryAt?: string
}

export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly details: Details

  constructor(
    code: ErrorCode,
    message: string,
    { cause, ...details }: Details & { readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.details = details
  }
}

/** Absent ids and other clients' ids cannot be distinguished (spec section 7). */
export function notFound(what: string) {
  return new GatewayError('not_found', `${what} not found`)
}

export function invalid(
  message: string,
  fieldErrors?: FieldErrors,
  actionHint?: string,
  payout: Details = {},
) {
  return new GatewayError('validation', message, { fieldErrors, actionHint, ...payout })
}

/** One field of the input is wrong. */
export function invalidField(field: string, reason: string, actionHint?: string) {
  return invalid(`${field}: ${reason}`, { [field]: [reason] }, actionHint)
}

/** A state refuses the call, and no field of its input. */
export function refused(message: string, actionHint: string) {
  return invalid(message, undefined, actionHint)
}

export function conflict(message: string, actionHint?: string) {
  return new GatewayError('conflict', message, { actionHint })
}

export function laterError(message: string, retryAt: string) {
  return invalid(message, undefined, `Repeat the same call at ${retryAt}.`, { retryAt })
}

/** 429 with Retry-After, in whole seconds and at least one. `cause`: an error or a code. */
export function limitError(message: string, waitMs: number, cause?: unknown) {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new GatewayError('rate_limit', `${message}; retry later`, { cause, retryAfterSeconds })
}

const UNKNOWN = new GatewayError(
  'internal_error',
  'internal error; retry, or quote the request id to support',
)

/**
 * Details of unknown errors go only to the log. `expected`: false for an internal failure, which is
 * logged with its cause.
 */
export function toErrorReply(error: unknown) {
  const { message, code, details } = error instanceof GatewayError ? error : UNKNOWN
  const { fieldErrors, actionHint, retryAfterSeconds, confirm, retryAt } = details
  const status: number = HTTP_STATUS[code]
  const body = {
    message,
    code,
    ...(fieldErrors && { field_errors: fieldErrors }),
    ...(actionHint !== undefined && { action_hint: actionHint }),
    ...(confirm && { confirm }),
    ...(retryAt !== undefined && { retry_at: retryAt }),
  }
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return { status, body, headers, expected: status < 500 }
}

/** Spec section 7, for the public API and operators' actions. */
export type Envelope = ReturnType<typeof toErrorReply>['body']

/** A state that must not occur: a bug. The code stops, because guessing with money is worse. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

export function assertInvariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new InvariantError(what)
}

/** Closes an exhaustive switch: a new member of the union does not compile. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected value: ${String(value)}`)
}
