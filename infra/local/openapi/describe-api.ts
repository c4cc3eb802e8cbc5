import { MAX_KEY_LENGTH } from '../../../shared/payment/create/parse-payment-request.ts'
import { describeCreateRequest } from './describe-create-request.ts'
import { describeOperations } from './describe-operations.ts'
import { describeRedeliverRequest } from './describe-redeliver-request.ts'
import { describeWebhooks } from './describe-webhooks.ts'
import { COMMON_ERRORS, errorDescription, errorSchemas, errorTable } from './error-answers.ts'
import { examplesOf, REQUEST_ID_HEADER } from './examples-of.ts'
import type { Json } from './json-schema-of.ts'
import { TAGS } from './operations.ts'
import { EXAMPLE_SECRET, type Recording } from './record-examples.ts'
import { refTo, responseSchemas } from './response-schemas.ts'

/** Raised with everything a merchant could notice; CHANGELOG.md has a line for each, with the digest of its contract. */
export const API_VERSION = '1.0.0'

const ABOUT = `Payments in IDR by virtual account, QRIS and wallet; what you were credited; payouts; signed webhooks.

**Keys.** Every request carries \`Authorization: Bearer <API key>\`. A key belongs to one merchant, whose things alone it reaches: an id of somebody else's answers like one that does not exist. A \`read_only\` key may not POST.

**Answers.** JSON, with \`X-Request-Id\`, which support asks for. Fields may be added to what is answered and to webhooks: ignore what you do not know. What stands in front of the gateway may answer 413, 429, 502, 503 or 504 by itself, without the envelope of errors and perhaps without JSON.

**Errors.** Decide by \`code\`; the words of \`message\` may change.

${errorTable()}

**Webhooks.** Those in the examples here are signed with \`${EXAMPLE_SECRET}\`, so that you can try your verification on them.`

const servers: readonly Json[] = [
  {
    url: 'https://{domain}',
    description: 'The name of a stage',
    variables: { domain: { default: 'payments.invalid', description: 'As the operator told you' } },
  },
  { url: 'http://127.0.0.1:3000', description: 'The gateway on your own machine, by npm start' },
]

/** An error as every operation may answer it. */
const errorResponse = (status: number, recorded: Recording): Json => {
  const shown = recorded.answers.filter((answer) => answer.status === status)
  if (shown.length === 0) throw new Error(`no answer with status ${status} was recorded`)
  const retryAfter = { 'Retry-After': { description: 'Seconds.', schema: { type: 'string', pattern: '^[0-9]+$' } } }
  const fromInFront = status === 429 ? { anyOf: [refTo('Error'), refTo('PlatformError')] } : refTo('Error')
  return {
    description: errorDescription(status),
    headers: status === 429 ? retryAfter : REQUEST_ID_HEADER,
    content: { 'application/json': { schema: fromInFront, examples: examplesOf(shown.slice(0, 1)) } },
  }
}

/** From what stands in front of the functions. */
const platformResponse = (description: string, message: string): Json => ({
  description,
  content: { 'application/json': { schema: refTo('PlatformError'), example: { message } } },
})

const responses = (recorded: Recording): Json => ({
  ...Object.fromEntries(
    Object.entries(COMMON_ERRORS).map(([status, name]) => [name, errorResponse(Number(status), recorded)]),
  ),
  TooLarge: platformResponse('A body above 10 MB. **What to do:** send less.', 'Request Entity Too Large'),
  Unavailable: platformResponse(
    'No answer within 30 seconds. **What to do:** as after a 500: the same request, with the same Idempotency-Key.',
    'Service Unavailable',
  ),
})

const parameters: Json = {
  Id: { name: 'id', in: 'path', required: true, description: 'Of the thing itself.', schema: { type: 'string' } },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Of your own, one for each payment you mean to make. Empty counts as none.',
    schema: { type: 'string', maxLength: MAX_KEY_LENGTH },
    example: 'order-1042',
  },
}

/** The API as OpenAPI 3.1: of the manifest's functions, the schemas they parse and answer with, and recorded examples. */
export const describeApi = async (recorded: Recording): Promise<Json> => ({
  openapi: '3.1.0',
  info: {
    title: 'Payment gateway',
    version: API_VERSION,
    description: ABOUT,
    contact: { name: 'The operator of your gateway', url: 'https://payments.invalid/' },
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers,
  security: [{ apiKey: [] }],
  tags: [
    ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    { name: 'Webhooks', description: 'What we send to your endpoints, which the operator registers.' },
  ],
  paths: await describeOperations(recorded.answers),
  webhooks: describeWebhooks(recorded.webhooks),
  components: {
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, from the operator.' } },
    parameters,
    headers: {
      RequestId: { description: 'Of this request; quote it to support.', schema: { type: 'string' }, required: true },
    },
    responses: responses(recorded),
    schemas: { ...describeCreateRequest(), ...describeRedeliverRequest(), ...responseSchemas(), ...errorSchemas() },
  },
})
