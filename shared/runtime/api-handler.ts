import * as v from 'valibot'
import { authenticate } from '../client/authenticate.ts'
import type { Client } from '../client/client.ts'
import { addDebt } from '../client/enforce-rate-limit.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { parseInput } from '../field-errors.ts'
import type { ClientId } from '../ids.ts'
import { listPoints } from '../page.ts'
import { withCountedUnits } from '../table/used-units.ts'
import { type HttpReply, type HttpRequest, httpHandler } from './http-handler.ts'
import { noteCaller } from './json-log.ts'

export type ApiRequest<Query> = {
  readonly client: Client
  readonly clientId: ClientId
  readonly id: string
  readonly query: Query
  readonly idempotencyKey: string | undefined
  readonly accept: string | undefined
  readonly rawBody: Buffer
}

const NoQuery = v.object({})

type Spec<Schema> = {
  readonly query?: Schema
  /** Parameters whose empty value is refused by the schema instead of ignored. */
  readonly neverEmpty?: readonly string[]
  readonly creates?: boolean
}

/**
 * Wraps a client endpoint. Authentication, permissions and rate limit come before the query is
 * parsed, so an unauthenticated caller learns nothing else (spec section 5). The table units of the
 * request are added to the client's debt before the answer.
 */
export function apiHandler<const Schema extends v.GenericSchema = typeof NoQuery>(
  spec: Spec<Schema>,
  run: (request: ApiRequest<v.InferOutput<Schema>>, deps: Deps) => Promise<HttpReply>,
) {
  return Object.assign(
    httpHandler((request, deps) =>
      withCountedUnits(async (used) => {
        const creates = spec.creates === true
        const cost = { points: pointsBeforeRun(request, creates), creates }
        const { headers, pathParameters, queryStringParameters, rawBody } = request
        const client = await authenticate(deps, headers['authorization'], {
          ...cost,
          changes: !request.isGet,
          onAuthenticated: noteCaller,
        })
        try {
          return await run(
            {
              client,
              clientId: client.clientId,
              id: pathParameters?.['id'] ?? '',
              query: parseQuery(
                spec.query ?? NoQuery,
                filledParams(queryStringParameters, spec.neverEmpty),
              ),
              idempotencyKey: headers['idempotency-key'],
              accept: headers['accept'],
              rawBody,
            },
            deps,
          )
        } finally {
          await addDebt(deps, client, cost, used())
        }
      }),
    ),
    // The API description reads the query's schema.
    { query: spec.query ?? NoQuery },
  )
}

const KB = 1_024

/**
 * The points that are taken before the request runs (design section 9), by the size of its body or
 * page.
 */
function pointsBeforeRun(
  { queryStringParameters: params = {}, rawBody }: HttpRequest,
  creates: boolean,
): number {
  return creates
    ? 1 + Math.floor(rawBody.length / (6 * KB))
    : listPoints(Number(params['per_page'] ?? params['limit'] ?? 0))
}

const MAX_NAME = 64

/** A misspelt filter must not return everything, so unknown parameters are refused. */
function parseQuery<const Schema extends v.GenericSchema>(
  schema: Schema,
  params: Readonly<Record<string, unknown>>,
): v.InferOutput<Schema> {
  const names = Object.keys('entries' in schema ? Object(schema.entries) : {})
  const [unknown] = Object.keys(params).filter((name) => !names.includes(name))
  if (unknown === undefined) return parseInput(schema, params)
  const name = unknown.slice(0, MAX_NAME).toWellFormed()
  const hint = `This endpoint takes ${names.length > 0 ? names.join(', ') : 'no query parameters'}.`
  throw invalid(`unknown query parameter: ${name}`, { [name]: ['unknown query parameter'] }, hint)
}

/** An empty parameter counts as absent (design section 5). */
function filledParams(
  params: HttpRequest['queryStringParameters'],
  neverEmpty: readonly string[] = [],
) {
  return Object.fromEntries(
    Object.entries(params ?? {}).filter(
      ([name, value]) => value !== '' || neverEmpty.includes(name),
    ),
  )
}

export function reply(
  status: number,
  body: HttpReply['body'],
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return { status, body, headers }
}

export function ok(body: HttpReply['body']): HttpReply {
  return reply(200, body)
}

export function csvReply(text: string, next: string | undefined): HttpReply {
  return reply(200, text, {
    'content-type': 'text/csv; charset=utf-8',
    ...(next !== undefined && { link: `<${next}>; rel="next"` }),
  })
}

export function asksForCsv(accept = ''): boolean {
  return /(?:^|,)\s*text\/csv\s*(?:[;,]|$)/i.test(accept)
}
