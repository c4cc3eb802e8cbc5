import * as v from 'valibot'
import { MANIFEST } from '../../../functions/manifest.ts'
import { loadHandlers } from '../functions/load-handlers.ts'
import { COMMON_ERRORS, errorDescription } from './error-answers.ts'
import type { Recorded } from './example-walk.ts'
import { isJson, type Json, jsonSchemaOf } from './json-schema-of.ts'
import { OPERATIONS, type Operation, type Parameters } from './operations.ts'
import { refTo } from './response-schemas.ts'

const JSON_TYPE = 'application/json'

/** The header of every answer of a function. */
export const REQUEST_ID_HEADER: Json = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
}

type Described = Operation & {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: unknown
  readonly recorded: readonly Recorded[]
}

/** Every path with its operations. Throws if a function has no description, or a description no function. */
export async function describeOperations(recorded: readonly Recorded[]): Promise<Json> {
  const functions = await merchantFunctions()
  const unknown = Object.keys(OPERATIONS).filter(
    (name) => !functions.some((one) => one.name === name),
  )
  if (unknown.length > 0)
    throw new Error(`remove ${unknown.join(', ')} from operations.ts: the manifest lacks it`)
  const described = functions.map((one): Described => {
    const description = OPERATIONS[one.name]
    if (!description)
      throw new Error(`${one.name} has no description: add it to infra/local/openapi/operations.ts`)
    return {
      ...description,
      ...one,
      recorded: recorded.filter((answer) => answer.operation === one.name),
    }
  })
  return Object.fromEntries(
    [...Map.groupBy(described, ({ path }) => path)].map(([path, operations]) => [
      path,
      Object.fromEntries(operations.map((one) => [one.method.toLowerCase(), operation(one)])),
    ]),
  )
}

/** The functions that merchants call, each with the schema of its query. */
async function merchantFunctions() {
  const specs = MANIFEST.filter(
    ({ trigger }) => trigger.kind === 'http' && trigger.path.startsWith('/v1/'),
  )
  return (await loadHandlers(specs)).flatMap(({ spec: { name, trigger }, query }) =>
    trigger.kind === 'http' ? [{ name, method: trigger.method, path: trigger.path, query }] : [],
  )
}

function operation(described: Described): Json {
  const { operationId, tag, summary, description, path, query, takesIdempotencyKey } = described
  const parameters = [
    ...(path.includes('{id}') ? [{ $ref: '#/components/parameters/Id' }] : []),
    ...queryParameters(query, described.parameters),
    ...(takesIdempotencyKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(described),
    responses: responses(described),
  }
}

const PARAMETERS: Parameters = {
  page: {
    description: 'From 1; a lower value counts as 1.',
    schema: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER, default: 1 },
  },
  per_page: {
    description: 'From 1 to 100; a value outside counts as the nearest bound.',
    schema: { type: 'integer', default: 25 },
  },
  limit: {
    description: 'From 1 to 1,000; a value outside counts as the nearest bound.',
    schema: { type: 'integer', default: 100 },
  },
  after: { description: 'The `next` of the previous page.' },
  status: { description: 'Only items of this status.' },
  idempotency_key: {
    description:
      'Only the payment of this key. An empty list means "not yet": then create it with the same key, never with a new ' +
      'one. This filter allows no other filter.',
  },
  external_reference: {
    description:
      'Only payments with exactly this reference. `status` can be added. A payment can be found as soon as its create is ' +
      'answered. A reference of more than 1,000 payments gets 422.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  endpoint_id: { description: 'Only deliveries to this endpoint, which may be deleted.' },
  event_id: { description: 'Only deliveries of this event.' },
  currency: {
    description: 'Only IDR is supported.',
    schema: { type: 'string', const: 'IDR', default: 'IDR' },
  },
  since: {
    description: 'Only events that fired at or after this time. Without it: the last 90 days.',
    schema: { type: 'string', format: 'date-time' },
  },
  include: { description: '`settlements` adds `in_settlement_minor` and `paid_out_minor`.' },
}

const Query = v.looseObject({
  entries: v.record(
    v.string(),
    v.custom<v.GenericSchema>((value) => typeof value === 'object'),
  ),
})

/**
 * The parameters of a query, from the schema that parses it. `own`: parameters that differ in this operation. Throws
 * for a parameter without description.
 */
function queryParameters(query: unknown, own: Parameters = {}): readonly Json[] {
  const { entries } = v.parse(Query, query)
  const { properties, required } = jsonSchemaOf(v.object(entries), 'input')
  return Object.entries(isJson(properties) ? properties : {}).map(([name, parsed]) => {
    const described = own[name] ?? PARAMETERS[name]
    if (!described)
      throw new Error(`the parameter ${name} has no description: add it to ${import.meta.filename}`)
    return {
      name,
      in: 'query',
      description: described.description,
      required: Array.isArray(required) && required.includes(name),
      schema: described.schema ?? parsed,
    }
  })
}

function requestBody({ body, success, recorded }: Described): Json {
  if (body === undefined) return {}
  const done = Math.max(...Object.keys(success).map(Number))
  const sent = recorded.filter(({ status, request }) => request && status === done)
  const asExamples = sent.map(({ request = {}, ...answer }) => ({ ...answer, body: request }))
  return {
    requestBody: {
      required: true,
      content: { [JSON_TYPE]: { schema: refTo(body), examples: examplesOf(asExamples) } },
    },
  }
}

/** Recorded bodies as an answer's examples, by name. Throws if two have the same name. */
export function examplesOf(recorded: readonly Recorded[]): Json {
  const names = recorded.map(({ name }) => name)
  if (new Set(names).size < names.length)
    throw new Error(`rename an example, two have one name: ${names.join(', ')}`)
  return Object.fromEntries(
    recorded.map(({ name, summary, body }) => [name, { summary, value: body }]),
  )
}

function responses(described: Described): Json {
  const common = {
    ...COMMON_ERRORS,
    ...(described.method === 'POST' && { 413: 'TooLarge' }),
    503: 'Unavailable',
  }
  return Object.fromEntries([
    ...Object.keys(described.success).map((status) => [
      status,
      response(described, Number(status)),
    ]),
    ...Object.entries(common).map(([status, name]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
    ...described.errors.map((status) => [status, error(described, status)]),
  ])
}

function response(described: Described, status: number): Json {
  const { description, schema, csv, headers, links } = described.success[status] ?? {}
  return {
    description,
    headers: { ...REQUEST_ID_HEADER, ...headers },
    content: {
      [JSON_TYPE]: {
        schema: refTo(schema ?? ''),
        examples: examplesOf(shown(described.recorded, status, described.name)),
      },
      ...(csv && { 'text/csv': { schema: { type: 'string' } } }),
    },
    ...(links && { links }),
  }
}

/** The recorded answers of a status. Throws if there is none, because every described answer was recorded. */
export function shown(
  recorded: readonly Recorded[],
  status: number,
  name = 'any operation',
): readonly Recorded[] {
  const found = recorded.filter((answer) => answer.status === status)
  if (found.length === 0)
    throw new Error(`no answer ${status} of ${name} was recorded: add it to example-walk.ts`)
  return found
}

/** An error that is specific to this operation. */
function error(described: Described, status: number): Json {
  return {
    description: errorDescription(status),
    headers: REQUEST_ID_HEADER,
    content: {
      [JSON_TYPE]: {
        schema: refTo('Error'),
        examples: examplesOf(shown(described.recorded, status, described.name)),
      },
    },
  }
}
