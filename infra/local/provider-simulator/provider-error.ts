import * as v from 'valibot'

const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map([
  ['INVALID_API_KEY', 401],
  ['REQUEST_FORBIDDEN_ERROR', 403],
  ['INVALID_MERCHANT_SETTINGS', 403],
  ['ACCOUNT_ACCESS_BLOCKED', 403],
  ['CHANNEL_NOT_ACTIVATED', 403],
  ['DATA_NOT_FOUND', 404],
  ['DUPLICATE_ERROR', 409],
  ['RATE_LIMIT_EXCEEDED', 429],
  ['SERVER_ERROR', 500],
  ['CHANNEL_UNAVAILABLE', 503],
  ['ISSUER_UNAVAILABLE', 503],
])

export class ProviderError extends Error {
  readonly errorCode: string
  readonly status: number
  readonly errors: readonly string[] | undefined

  constructor(errorCode: string, message: string, errors?: readonly string[]) {
    super(message)
    this.name = 'ProviderError'
    this.errorCode = errorCode
    this.status = STATUS_OF_CODE.get(errorCode) ?? 400
    this.errors = errors
  }

  toBody() {
    return {
      error_code: this.errorCode,
      message: this.message,
      ...(this.errors ? { errors: this.errors } : {}),
    }
  }
}

/** Throws `API_VALIDATION_ERROR` with every invalid field. */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown) {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const errors = result.issues.map((issue) => {
    const path = v.getDotPath(issue)
    return path ? `${path}: ${issue.message}` : issue.message
  })
  throw new ProviderError('API_VALIDATION_ERROR', errors.join('; '), errors)
}

/** Undefined if the body is empty. Throws `API_VALIDATION_ERROR` if it is not JSON. */
export function parseJson(body: string): unknown {
  if (body.trim() === '') return undefined
  try {
    return JSON.parse(body)
  } catch {
    throw new ProviderError('API_VALIDATION_ERROR', 'The request body is not valid JSON')
  }
}
