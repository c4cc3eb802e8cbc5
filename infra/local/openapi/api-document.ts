import { join } from 'node:path'
import { parseYaml, stringifyYaml } from '@redocly/openapi-core'
import * as v from 'valibot'
import {
  KEY_CHARACTERS,
  MAX_KEY_LENGTH,
} from '../../../shared/payment/create/parse-payment-request.ts'
import {
  answersWith,
  describeOperations,
  examplesOf,
  REQUEST_ID_HEADER,
} from './describe-operations.ts'
import { describeCreateRequest, describeRedeliverRequest } from './describe-requests.ts'
import { describeWebhooks } from './describe-webhooks.ts'
import { COMMON_ERRORS, errorDescription, errorSchemas, errorTable } from './error-answers.ts'
import type { Json } from './json-schema-of.ts'
import { API_VERSION, TAGS } from './operations.ts'
import { EXAMPLE_SECRET, type Recording, recordExamples } from './record-examples.ts'
import { refTo, responseSchemas } from './response-schemas.ts'

export const API_DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.yaml')

const HEAD = '# Written by `npm run openapi -- --write`; a test compares.\n'

export async function apiDocument() {
  return (
    HEAD + stringifyYaml(await describeApi(await recordExamples()), { lineWidth: -1, noRefs: true })
  )
}

export const CLIENT_SCHEMAS = join(import.meta.dirname, '../../../docs/examples/gateway-schemas.ts')

const DescribedApi = v.object({
  components: v.object({
    schemas: v.record(
      v.string(),
      v.custom<Schema>((schema) => typeof schema === 'object'),
    ),
  }),
})

export function clientSchemas(document: string) {
  return schemasAsTypescript(v.parse(DescribedApi, parseYaml(document)).components.schemas)
}

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly description?: string
}

/**
 * Throws for a schema that has no TypeScript type here, because an unspecific type would check
 * nothing.
 */
export function schemasAsTypescript(schemas: Readonly<Record<string, Schema>>) {
  return `${[
    '/* Written by `npm run openapi -- --write` from the schemas of docs/openapi.yaml; a test compares. */',
    ...Object.entries(schemas).map(
      ([name, schema]) => `${commentOf(schema, '')}export type ${name} = ${typeOf(schema, '')}`,
    ),
  ].join('\n\n')}\n`
}

function commentOf({ description }: Schema, indent: string) {
  return description === undefined
    ? ''
    : `/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n${indent}`
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref: ref, oneOf, anyOf, allOf } = schema
  if (ref !== undefined) return ref.slice(ref.lastIndexOf('/') + 1)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  const choices = oneOf ?? anyOf
  if (choices) return union(choices.map((choice) => typeOf(choice, indent)))
  if (allOf) return allOf.map((part) => typeOf(part, indent)).join(' & ')
  const names = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  if (names.length === 0) return 'unknown'
  return union(names.map((name) => typeNamed(name, schema, indent)))
}

function literal(value: unknown) {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function union(types: readonly string[]) {
  return [...new Set(types)].join(' | ')
}

const PLAIN_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function typeNamed(name: string, schema: Schema, indent: string) {
  if (name === 'array') return `readonly (${typeOf(schema.items ?? {}, indent)})[]`
  if (name === 'object') return objectOf(schema, indent)
  const plain = PLAIN_TYPES[name]
  if (plain === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return plain
}

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string) {
  if (!properties) {
    const values =
      typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
    return `Readonly<Record<string, ${values}>>`
  }
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${inner}${commentOf(field, inner)}readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(field, inner)}\n`,
  )
  return `{\n${fields.join('')}${indent}}`
}

const ABOUT = `Payments in IDR by virtual account, QRIS and wallet. Your credits, your payouts, and signed webhooks.

**Keys.** Every request carries \`Authorization: Bearer <API key>\`. A key belongs to one merchant and reaches only that merchant's items. The id of another merchant's item answers 404, like an unknown id. A \`read_only\` key may not POST.

**Answers.** JSON, with \`X-Request-Id\`; quote it to support. Answers and webhooks may get new fields: ignore fields that you do not know. A proxy before the gateway may answer 413, 429, 502, 503 or 504. That answer has no error envelope, and may not be JSON.

**Errors.** Decide by \`code\`. The text of \`message\` may change.

${errorTable()}

**Webhooks.** The examples here are signed with \`${EXAMPLE_SECRET}\`. Test your verification with them.`

const servers: readonly Json[] = [
  {
    url: 'https://{domain}',
    description: 'A deployed stage',
    variables: {
      domain: { default: 'payments.invalid', description: 'The operator gives you this name' },
    },
  },
  { url: 'http://127.0.0.1:3000', description: 'The gateway on your own machine, by npm start' },
]

const parameters: Json = {
  Id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the item.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Your own key, a new one for each new payment. An empty key counts as no key.',
    schema: { type: 'string', maxLength: MAX_KEY_LENGTH, pattern: KEY_CHARACTERS.source },
    example: 'order-1042',
  },
}

/** OpenAPI 3.1, made from the manifest, the functions' schemas, and recorded examples. */
async function describeApi(recording: Recording): Promise<Json> {
  return {
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
      {
        name: 'Webhooks',
        description:
          'Requests that we send to your endpoints. The operator registers the endpoints.',
      },
    ],
    paths: await describeOperations(recording.answers),
    webhooks: describeWebhooks(recording.webhooks),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key. The operator issues it.',
        },
      },
      parameters,
      headers: {
        RequestId: {
          description: 'The id of this request. Quote it to support.',
          schema: { type: 'string' },
          required: true,
        },
      },
      responses: responses(recording),
      schemas: {
        ...describeCreateRequest(),
        ...describeRedeliverRequest(),
        ...responseSchemas(),
        ...errorSchemas(),
      },
    },
  }
}

function responses(recording: Recording): Json {
  return {
    ...Object.fromEntries(
      Object.entries(COMMON_ERRORS).map(([status, name]) => [
        name,
        errorResponse(Number(status), recording),
      ]),
    ),
    TooLarge: platformResponse(
      'A body above 10 MB. **What to do:** send less.',
      'Request Entity Too Large',
    ),
    Unavailable: platformResponse(
      'No answer within 30 seconds. **What to do:** send the same request, with the same ' +
        'Idempotency-Key, as after a 500.',
      'Service Unavailable',
    ),
  }
}

function errorResponse(status: number, recording: Recording): Json {
  const retryAfter = {
    'Retry-After': { description: 'Seconds.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  }
  const schema =
    status === 429 ? { anyOf: [refTo('Error'), refTo('PlatformError')] } : refTo('Error')
  return {
    description: errorDescription(status),
    headers: status === 429 ? retryAfter : REQUEST_ID_HEADER,
    content: {
      'application/json': {
        schema,
        examples: examplesOf(answersWith(recording.answers, status).slice(0, 1)),
      },
    },
  }
}

function platformResponse(description: string, message: string): Json {
  return {
    description,
    content: { 'application/json': { schema: refTo('PlatformError'), example: { message } } },
  }
}
