import * as v from 'valibot'
import { type Envelope, type ErrorCode, HTTP_STATUS } from '../../../shared/errors.ts'
import { MAX_KEY_LENGTH } from '../../../shared/payment/create/parse-payment-request.ts'
import { type Json, jsonSchemaOf } from './json-schema-of.ts'

type Advice = {
  readonly means: string
  readonly retry: 'no' | 'yes' | 'depends' | 'with the same Idempotency-Key'
  readonly todo: string
}

/** The meaning of each code for the merchant (spec section 7), and what to do. */
const ERROR_ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  auth: {
    means:
      'The API key is missing, malformed, unknown, expired or revoked, or its merchant is ' +
      'disabled.',
    retry: 'no',
    todo: 'Check the `Authorization` header; ask the operator for a new key.',
  },
  forbidden: {
    means: 'The key has no permission for this, or the request did not use the public address.',
    retry: 'no',
    todo: 'Use a key with `full` permissions for changes.',
  },
  not_found: {
    means: 'The item does not exist, or it belongs to another merchant. The answer is the same.',
    retry: 'no',
    todo: 'Check the id, and the merchant of the key.',
  },
  conflict: {
    means:
      'Two concurrent changes of one item. No endpoint answers this today; a reused ' +
      'Idempotency-Key never causes it.',
    retry: 'depends',
    todo: 'Read the item again, then decide.',
  },
  validation: {
    means: 'The body, the query or the state of the item does not allow the request.',
    retry: 'no',
    todo: 'Correct what `message` and `field_errors` name.',
  },
  rate_limit: {
    means: 'Too many requests of the merchant or an address, pushes to a phone, or provider calls.',
    retry: 'yes',
    todo: 'Wait as many seconds as `Retry-After` says, then send the same request.',
  },
  network: {
    means: 'The provider could not be reached. The payment is unchanged here.',
    retry: 'yes',
    todo: 'Send it again after some seconds.',
  },
  server_error: {
    means: 'The provider failed. The payment is unchanged here.',
    retry: 'yes',
    todo: 'Send it again after some seconds.',
  },
  internal_error: {
    means:
      'An unexpected failure of the gateway or the provider. A create may or may not have ' +
      'happened.',
    retry: 'with the same Idempotency-Key',
    todo: `Send the same request with the same Idempotency-Key (at most ${MAX_KEY_LENGTH} characters): the answer is the existing payment, or a new one. If the error persists, quote \`X-Request-Id\` to support.`,
  },
}

const CODES = v.picklist(Object.keys(HTTP_STATUS))

const ErrorSchema = v.object({
  message: v.pipe(v.string(), v.description('A text for people. It may change: decide by `code`.')),
  code: CODES,
  field_errors: v.optional(
    v.pipe(
      v.record(v.string(), v.array(v.string())),
      v.description('The errors of each field or parameter.'),
    ),
  ),
  action_hint: v.optional(v.string()),
}) satisfies v.GenericSchema<unknown, Omit<Envelope, 'code'>>

const STATUS_OF: Readonly<Record<string, number>> = HTTP_STATUS

export function errorTable() {
  return [
    '| Code | HTTP | Send again? | It means | What to do |',
    '|---|---|---|---|---|',
    ...rows(),
  ].join('\n')
}

function rows() {
  return Object.entries(ERROR_ADVICE).map(
    ([code, { means, retry, todo }]) =>
      `| \`${code}\` | ${STATUS_OF[code]} | ${retry} | ${means} | ${todo} |`,
  )
}

export function errorSchemas(): Readonly<Record<string, Json>> {
  return {
    Error: jsonSchemaOf(ErrorSchema, 'output'),
    PlatformError: {
      description:
        'An error from a proxy before the gateway: it has no envelope. An answer of a load ' +
        'balancer may not be JSON.',
      type: 'object',
      required: ['message'],
      properties: { message: { type: 'string' } },
    },
  }
}

/** Errors that every operation may answer: for the key, the rate limit, a failure. */
export const COMMON_ERRORS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
  500: 'InternalError',
}

export function errorDescription(status: number) {
  return Object.entries(ERROR_ADVICE)
    .filter(([code]) => STATUS_OF[code] === status)
    .map(([code, { means, todo }]) => `\`${code}\`: ${means} **What to do:** ${todo}`)
    .join('\n\n')
}
