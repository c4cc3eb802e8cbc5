import { type FieldErrors, GatewayError, HTTP_STATUS } from './errors.ts'

/** The error envelope of spec section 7, the same on the public API and in operators' answers. */
export type Envelope = {
  readonly message: string
  readonly code: string
  readonly field_errors?: FieldErrors
  readonly action_hint?: string
}

export type ErrorReply = {
  readonly status: number
  readonly body: Envelope
  readonly retryAfterSeconds: number | undefined
  /** False when the caller did nothing wrong: such an error is logged with its cause. */
  readonly expected: boolean
}

/** Turns whatever was thrown into what the caller may know. Details of unknown errors stay in the log. */
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
    },
    retryAfterSeconds: error.retryAfterSeconds,
    expected: HTTP_STATUS[error.code] < 500,
  }
}
