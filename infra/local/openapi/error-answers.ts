import * as v from 'valibot'
import { type Envelope, type ErrorCode, HTTP_STATUS } from '../../../shared/errors.ts'
import { MAX_KEY_LENGTH } from '../../../shared/payment/create/parse-payment-request.ts'
import { type Json, jsonSchemaOf } from './json-schema-of.ts'

type Advice = {
  readonly means: string
  readonly retry: 'no' | 'yes' | 'depends' | 'with the same Idempotency-Key'
  readonly todo: string
}

/** What each code means to who is answered it (spec section 7), and what to do. */
const ERROR_ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  auth: {
    means: 'The API key is missing, malformed, unknown, expired or revoked, or its merchant is disabled.',
    retry: 'no',
    todo: 'Check the `Authorization` header; ask the operator for a new key.',
  },
  forbidden: {
    means: 'The key may not do this, or the request did not come by the public address.',
    retry: 'no',
    todo: 'Use a key with `full` permissions for what changes something.',
  },
  not_found: {
    means: "There is no such thing, or it is another merchant's: the two look the same.",
    retry: 'no',
    todo: 'Check the id and whose key is used.',
  },
  conflict: {
    means: 'Two changes of one thing met. These endpoints do not answer it today; a reused Idempotency-Key never does.',
    retry: 'depends',
    todo: 'Read the thing again, then decide.',
  },
  validation: {
    means: 'Body, query or state do not allow it.',
    retry: 'no',
    todo: 'Mend what `message` and `field_errors` name; nothing was changed.',
  },
  rate_limit: {
    means: "Too many requests, of the key's merchant or of one address.",
    retry: 'yes',
    todo: 'Wait as many seconds as `Retry-After` says, then send the same request.',
  },
  network: {
    means: 'The provider could not be reached. The payment is unchanged here.',
    retry: 'yes',
    todo: 'Send the same request again after some seconds.',
  },
  server_error: {
    means: 'The provider failed. The payment is unchanged here.',
    retry: 'yes',
    todo: 'Send the same request again after some seconds.',
  },
  internal_error: {
    means: 'An unexpected failure, of ours or behind us. A create may or may not have happened.',
    retry: 'with the same Idempotency-Key',
    todo: `Send the same request with the same Idempotency-Key (at most ${MAX_KEY_LENGTH} characters): it answers the payment that exists, or makes it. If it persists, quote \`X-Request-Id\` to support.`,
  },
}

const CODES = v.picklist(Object.keys(HTTP_STATUS))

/** The envelope of every error of ours, held to its type. */
const ErrorSchema = v.object({
  message: v.pipe(v.string(), v.description('For a person. Its words may change: decide by `code`.')),
  code: CODES,
  field_errors: v.optional(
    v.pipe(v.record(v.string(), v.array(v.string())), v.description('What is wrong, by field of the body.')),
  ),
  action_hint: v.optional(v.string()),
}) satisfies v.GenericSchema<unknown, Envelope>

const STATUS_OF: Readonly<Record<string, number>> = HTTP_STATUS

const rows = () =>
  Object.entries(ERROR_ADVICE).map(
    ([code, { means, retry, todo }]) => `| \`${code}\` | ${STATUS_OF[code]} | ${retry} | ${means} | ${todo} |`,
  )

/** The table of all codes, for the page that describes the API. */
export const errorTable = (): string =>
  ['| Code | HTTP | Send again? | It means | What to do |', '|---|---|---|---|---|', ...rows()].join('\n')

export const errorSchemas = (): Readonly<Record<string, Json>> => ({
  Error: jsonSchemaOf(ErrorSchema, 'output'),
  PlatformError: {
    description:
      'From what stands in front of the gateway: no envelope. Answers of load balancers may be no JSON at all.',
    type: 'object',
    required: ['message'],
    properties: { message: { type: 'string' } },
  },
})

/** Answers that every operation may give: by the key, the rate limit, a failure. */
export const COMMON_ERRORS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
  500: 'InternalError',
}

/** What the codes of a status mean, and what to do about each. */
export const errorDescription = (status: number): string =>
  Object.entries(ERROR_ADVICE)
    .filter(([code]) => STATUS_OF[code] === status)
    .map(([code, { means, todo }]) => `\`${code}\`: ${means} **What to do:** ${todo}`)
    .join('\n\n')
