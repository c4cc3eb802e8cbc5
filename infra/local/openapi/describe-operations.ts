import * as v from 'valibot'
import { MANIFEST } from '../../../functions/manifest.ts'
import { loadHandlers } from '../functions/load-handlers.ts'
import { COMMON_ERRORS, errorDescription } from './error-answers.ts'
import { isJson, type Json, jsonSchemaOf } from './json-schema-of.ts'
import type { Operation, Parameters } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { refTo } from './response-schemas.ts'
import type { RecordedAnswer } from './walk.ts'

const JSON_TYPE = 'application/json'

export const REQUEST_ID_HEADER: Json = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
}

type DescribedOperation = Operation & {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: v.InferOutput<typeof Described>['query']
  readonly answers: readonly RecordedAnswer[]
}

/** Throws if a function has no description, or a description no function. */
export async function describeOperations(answers: readonly RecordedAnswer[]): Promise<Json> {
  const functions = await merchantFunctions()
  const unknownNames = Object.keys(OPERATIONS).filter(
    (name) => !functions.some((target) => target.name === name),
  )
  if (unknownNames.length > 0)
    throw new Error(`remove ${unknownNames.join(', ')} from operations.ts: the manifest lacks it`)
  const operations = functions.map((target): DescribedOperation => {
    const description = OPERATIONS[target.name]
    if (!description)
      throw new Error(
        `${target.name} has no description: add it to infra/local/openapi/operations.ts`,
      )
    return {
      ...description,
      ...target,
      answers: answers.filter((answer) => answer.operation === target.name),
    }
  })
  return Object.fromEntries(
    [...Map.groupBy(operations, ({ path }) => path)].map(([path, pathOperations]) => [
      path,
      Object.fromEntries(
        pathOperations.map((operation) => [
          operation.method.toLowerCase(),
          describeOperation(operation),
        ]),
      ),
    ]),
  )
}

async function merchantFunctions() {
  const specs = MANIFEST.filter(
    ({ trigger }) => trigger.kind === 'http' && trigger.path.startsWith('/v1/'),
  )
  return (await loadHandlers(specs)).flatMap(({ spec: { name, trigger }, described }) =>
    trigger.kind === 'http'
      ? [{ name, method: trigger.method, path: trigger.path, ...v.parse(Described, described) }]
      : [],
  )
}

function describeOperation(operation: DescribedOperation): Json {
  const { name, tag, summary, description, path, query, takesIdempotencyKey } = operation
  const parameters = [
    ...(path.includes('{id}') ? [{ $ref: '#/components/parameters/Id' }] : []),
    ...queryParameters(query, operation.parameters),
    ...(takesIdempotencyKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ]
  return {
    // `api-get-payment` is `getPayment`.
    operationId: name
      .slice('api-'.length)
      .replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(operation),
    responses: describeResponses(operation),
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
      'Only the payment of this key. An empty list means "not yet": then create it with the same ' +
      'key, never with a new one. This filter allows no other filter.',
  },
  external_reference: {
    description:
      'Only payments with exactly this reference, found as soon as their create is answered. ' +
      '`status` can be added. Only the newest 100 payments of a reference are listed.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  endpoint_id: { description: 'Only deliveries to this endpoint, which may be deleted.' },
  event_id: { description: 'Only deliveries of this event.' },
  currency: {
    description: 'Only IDR is supported.',
    schema: { type: 'string', const: 'IDR', default: 'IDR' },
  },
  since: {
    description:
      'From this time on: events by `timestamp` (default: 90 days ago), entries by `eligible_at`.',
    schema: { type: 'string', format: 'date-time' },
  },
  from: {
    description:
      'The first day, a date in Asia/Jakarta (UTC+7). Without it: the first of the month of `to`.',
    schema: { type: 'string', format: 'date' },
  },
  to: {
    description:
      'The last day, a date in Asia/Jakarta (UTC+7), at most today, and at most 100 days with ' +
      '`from`. Without it: today.',
    schema: { type: 'string', format: 'date' },
  },
  include: { description: '`settlements` adds `in_settlement_minor` and `paid_out_minor`.' },
}

const Described = v.object({
  query: v.looseObject({
    entries: v.record(
      v.string(),
      v.custom<v.GenericSchema>((value) => typeof value === 'object'),
    ),
  }),
})

/**
 * From the schema that parses the query. `ownParameters` differ in this operation. Throws for a
 * parameter without description.
 */
function queryParameters(
  { entries }: DescribedOperation['query'],
  ownParameters: Parameters = {},
): readonly Json[] {
  const { properties, required } = jsonSchemaOf(v.object(entries), 'input')
  return Object.entries(isJson(properties) ? properties : {}).map(([name, parsedSchema]) => {
    const parameter = ownParameters[name] ?? PARAMETERS[name]
    if (!parameter)
      throw new Error(`the parameter ${name} has no description: add it to ${import.meta.filename}`)
    return {
      name,
      in: 'query',
      description: parameter.description,
      required: Array.isArray(required) && required.includes(name),
      schema: parameter.schema ?? parsedSchema,
    }
  })
}

function requestBody({ body, success, answers }: DescribedOperation): Json {
  if (body === undefined) return {}
  const doneStatus = Math.max(...Object.keys(success).map(Number))
  const withRequest = answers.filter(({ status, request }) => request && status === doneStatus)
  const asExamples = withRequest.map(({ request = {}, ...answer }) => ({
    ...answer,
    body: request,
  }))
  return {
    requestBody: {
      required: true,
      content: { [JSON_TYPE]: { schema: refTo(body), examples: examplesOf(asExamples) } },
    },
  }
}

/** Throws if two bodies have the same name. */
export function examplesOf(answers: readonly RecordedAnswer[]): Json {
  const names = answers.map(({ name }) => name)
  if (new Set(names).size < names.length)
    throw new Error(`rename an example, two have one name: ${names.join(', ')}`)
  return Object.fromEntries(
    answers.map(({ name, summary, body }) => [name, { summary, value: body }]),
  )
}

function describeResponses(operation: DescribedOperation): Json {
  const common = {
    ...COMMON_ERRORS,
    ...(operation.method === 'POST' && { 413: 'TooLarge' }),
    503: 'Unavailable',
  }
  return Object.fromEntries([
    ...Object.keys(operation.success).map((status) => [
      status,
      describeResponse(operation, Number(status)),
    ]),
    ...Object.entries(common).map(([status, name]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
    ...operation.errors.map((status) => [status, describeError(operation, status)]),
  ])
}

function describeResponse(operation: DescribedOperation, status: number): Json {
  const { description, schema, csv, headers, links } = operation.success[status] ?? {}
  return {
    description,
    headers: { ...REQUEST_ID_HEADER, ...headers },
    content: {
      [JSON_TYPE]: jsonAnswer(operation, status, schema ?? ''),
      ...(csv && { 'text/csv': { schema: { type: 'string' } } }),
    },
    ...(links && { links: describeLinks(links) }),
  }
}

function jsonAnswer({ answers, name }: DescribedOperation, status: number, schema: string): Json {
  return { schema: refTo(schema), examples: examplesOf(answersWith(answers, status, name)) }
}

function describeLinks(links: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(links).map(([name, operationId]) => {
      const item = name === 'first' ? 'data/0/' : ''
      return [name, { operationId, parameters: { id: `$response.body#/${item}id` } }]
    }),
  )
}

/** Throws if there is no such answer, because every described answer was recorded. */
export function answersWith(
  answers: readonly RecordedAnswer[],
  status: number,
  name = 'any operation',
) {
  const matches = answers.filter((answer) => answer.status === status)
  if (matches.length === 0)
    throw new Error(`no answer ${status} of ${name} was recorded: add it to example-walk.ts`)
  return matches
}

function describeError(operation: DescribedOperation, status: number): Json {
  return {
    description: errorDescription(status),
    headers: REQUEST_ID_HEADER,
    content: { [JSON_TYPE]: jsonAnswer(operation, status, 'Error') },
  }
}
