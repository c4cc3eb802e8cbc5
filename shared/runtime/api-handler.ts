import type { Request } from '@middy/core'
import * as v from 'valibot'
import { authenticate } from '../client/authenticate.ts'
import type { Caller } from '../client/client.ts'
import { addDebt, enforceRateLimit, pointsOf } from '../client/enforce-rate-limit.ts'
import type { Deps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { parseInput } from '../field-errors.ts'
import { MAX_BODY_BYTES } from '../json.ts'
import { listPoints } from '../page.ts'
import { reserveWith, usedUnits, withCountedUnits } from '../table/used-units.ts'
import { type HttpReply, type HttpRequest, httpHandler } from './http-handler.ts'
import { noteCaller } from './json-log.ts'

/** A request as the middlewares complete it. */
type ApiRequest<Query = unknown> = HttpRequest & {
  readonly client: Caller
  readonly clientId: Caller['clientId']
  readonly query: Query
}

const NoQuery = v.object({})

type Spec<Schema> = {
  /** A list takes a `strictObject`: a misspelt filter must not return everything. */
  readonly query?: Schema
  /** Parameters whose empty value is refused by the schema instead of ignored. */
  readonly neverEmpty?: readonly string[]
  readonly creates?: boolean
  /** A request that fails or times out is charged so much. */
  readonly mostUnits?: number
}

/** A request that runs out of time is charged in the half second before its answer. */
const RUN_EARLY_MS = 1_000

/** The handler judges key, body and rules, after these checks. */
export function apiHandler<const Schema extends v.GenericSchema = typeof NoQuery>(
  spec: Spec<Schema>,
  run: (request: ApiRequest<v.InferOutput<Schema>>, deps: Deps) => Promise<HttpReply>,
) {
  const checks = (deps: Deps) => [authentication(deps), points(deps, spec), parsedQuery(spec)]
  // The API description reads the query's schema.
  return Object.assign(httpHandler(run, checks, withCountedUnits, RUN_EARLY_MS), {
    query: spec.query ?? NoQuery,
  })
}

function authentication(deps: Deps) {
  return {
    before: async ({ event }: Request<ApiRequest>) => {
      const client = await authenticate(deps, event.headers['authorization'], {
        changes: !event.isGet,
        onAuthenticated: noteCaller,
      })
      Object.assign(event, { client, clientId: client.clientId })
    },
  }
}

/**
 * Points are taken before the work, and more of them when a first read has shown what the next
 * reads cost. The request's table units beyond its points become the client's debt before the
 * answer.
 */
function points(deps: Deps, { creates = false, mostUnits = MOST_UNITS }: Spec<unknown>) {
  const addUsed = async ({ event, error, internal }: PaidRequest) => {
    // A refused request owes nothing.
    if (internal.taken === undefined) return
    // Calls that failed, or that still run after the time is over, have reported no units.
    const mayBeUncounted = Boolean(error) && !(error instanceof GatewayError)
    const units = mayBeUncounted ? Math.max(mostUnits, usedUnits()) : usedUnits()
    await addDebt(deps, event.client, { points: internal.taken, creates }, units)
  }
  return {
    before: async ({ event, internal }: PaidRequest) => {
      let taken = costOf(event, creates)
      await enforceRateLimit(deps, event.client, { points: taken, creates })
      internal.taken = taken
      reserveWith(async (units) => {
        const missing = pointsOf(usedUnits() + units) - taken
        if (missing <= 0) return
        await enforceRateLimit(deps, event.client, { points: missing, creates, taken })
        taken += missing
        internal.taken = taken
      })
    },
    after: addUsed,
    onError: addUsed,
  }
}

type PaidRequest = Request<ApiRequest> & { internal: { taken?: number } }

/** What most requests use at most. */
const MOST_UNITS = 60

const BYTES_A_POINT = 6 * 1_024

/** Points by the size of the body or page (design section 9). */
function costOf({ queryStringParameters: params = {}, rawBody }: HttpRequest, creates: boolean) {
  const size = Number(params['per_page'] ?? params['limit'] ?? 0)
  const readBytes = Math.min(rawBody.length, MAX_BODY_BYTES)
  return creates ? 1 + Math.floor(readBytes / BYTES_A_POINT) : listPoints(size)
}

function parsedQuery({ query = NoQuery, neverEmpty = [] }: Spec<v.GenericSchema>) {
  return {
    before: ({ event }: Request<ApiRequest>) => {
      // An empty parameter counts as absent (design section 5).
      const params = Object.entries(event.queryStringParameters ?? {}).filter(
        ([name, value]) => value !== '' || neverEmpty.includes(name),
      )
      const parsed = parseQuery(query, Object.fromEntries(params), event.rawQueryString)
      Object.assign(event, { query: parsed })
    },
  }
}

const MAX_NAME = 64

function parseQuery(schema: v.GenericSchema, params: object, rawQueryString: string) {
  const names = Object.keys('entries' in schema ? Object(schema.entries) : {})
  // API Gateway joins the values of a repeated parameter with commas, into a value of its own.
  const sent = new URLSearchParams(rawQueryString)
  const twice = names.find((name) => sent.getAll(name).length > 1)
  if (twice) throw invalid(`query parameter given twice: ${twice}`, { [twice]: ['given twice'] })
  const unknown = sent.keys().find((name) => !names.includes(name))
  if (unknown === undefined || schema.type !== 'strict_object') return parseInput(schema, params)
  const name = unknown.slice(0, MAX_NAME).toWellFormed()
  const hint = `This endpoint takes ${names.length > 0 ? names.join(', ') : 'no query parameters'}.`
  throw invalid(`unknown query parameter: ${name}`, { [name]: ['unknown query parameter'] }, hint)
}

export function reply(
  status: number,
  body: HttpReply['body'],
  headers: HttpReply['headers'] = {},
): HttpReply {
  return { status, body, headers }
}

export function ok(body: HttpReply['body']): HttpReply {
  return reply(200, body)
}
