import * as v from 'valibot'
import { expect, it } from 'vitest'
import {
  ApiKeySchema,
  apiKeyText,
  issueApiKey,
  revokeApiKey,
} from '../../../shared/client/api-key-store.ts'
import {
  API,
  anApiClient,
  aPaymentBody,
  BODIES,
  call,
  type Query,
} from '../../support/api-event.ts'
import { testDeps } from '../../support/test-deps.ts'

/*
 * One order for every endpoint: authentication, points, key, query, body, rules. A request with
 * several faults gets the answer of the first. This file states the order apart from the code, and
 * asks every endpoint with every combination of an API key, an Idempotency-Key, a query and a body.
 */
type Name = keyof typeof API

/** `wrong`: a known parameter with a wrong value. */
const QUERIES: Readonly<Partial<Record<Name, { known: Query; wrong: Query }>>> = {
  listPayments: { known: { status: 'pending' }, wrong: { page: 'x' } },
  listSettlements: { known: { per_page: '5' }, wrong: { per_page: 'x' } },
  listBalanceEntries: { known: { limit: '5' }, wrong: { since: 'x' } },
  listSettlementPayments: { known: { limit: '5' }, wrong: { limit: 'x' } },
  getStatement: { known: { limit: '5' }, wrong: { from: 'x' } },
  listWebhookDeliveries: { known: { status: 'skipped' }, wrong: { status: 'x' } },
  listEvents: { known: { limit: '5' }, wrong: { limit: 'x' } },
  getBalance: { known: { include: 'settlements' }, wrong: { currency: 'USD' } },
}

const API_KEYS = [
  'missing',
  'malformed',
  'unknown',
  'expired',
  'revoked',
  'read_only',
  'used up',
  'valid',
]
const IDEMPOTENCY_KEYS = ['absent', 'fresh', 'of a visible payment', 'too long'] as const

type Case = {
  readonly name: Name
  readonly apiKey: (typeof API_KEYS)[number]
  readonly key: (typeof IDEMPOTENCY_KEYS)[number]
  readonly query: 'none' | 'known' | 'unknown' | 'wrong'
  readonly body: 'none' | 'no JSON' | 'unknown field' | 'valid'
}

function allowedAnswer({ name, apiKey, key, query, body }: Case) {
  const changes = API[name].route.startsWith('POST ')
  if (['missing', 'malformed', 'unknown', 'expired', 'revoked'].includes(apiKey)) return '401 auth'
  if (apiKey === 'read_only' && changes) return '403 forbidden'
  if (apiKey === 'used up') return '429 rate_limit'
  if (name === 'createPayment' && key === 'too long') return '422 validation'
  if (name === 'createPayment' && key === 'of a visible payment') return '200 replayed'
  if (query === 'wrong' || (query === 'unknown' && isList(name))) return '422 validation'
  if (BODIES[name] && body !== 'valid') return '422 validation'
  // No id of these requests exists.
  if (API[name].route.includes('{id}')) return '404 not_found'
  return name === 'createPayment' ? '201' : '200'
}

/** Lists refuse unknown parameters: a misspelt filter must not return everything. */
function isList(name: Name) {
  return name.startsWith('list') || name === 'getStatement'
}

function casesOf(name: Name, apiKey: Case['apiKey']) {
  const { known, wrong } = QUERIES[name] ?? {}
  const queries = ['none', 'unknown', ...(known ? ['known'] : []), ...(wrong ? ['wrong'] : [])]
  const bodies = BODIES[name] ? ['none', 'no JSON', 'unknown field', 'valid'] : ['none']
  const keys = name === 'createPayment' ? IDEMPOTENCY_KEYS : ['absent']
  return keys.flatMap((key) =>
    queries.flatMap((query) => bodies.map((body) => ({ name, apiKey, key, query, body }) as Case)),
  )
}

const NAMES = Object.keys(API) as Name[]
const NO_ID = '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d'

it.each(NAMES.flatMap((name) => API_KEYS.map((apiKey) => [name, apiKey] as const)))(
  '%s has one answer to each request with the API key %s',
  async (name, apiKey) => {
    const world = await aWorld(name, apiKey)
    const cases = casesOf(name, apiKey)

    const answers = []
    for (const asked of cases) answers.push({ ...asked, answer: await world.ask(asked) })

    expect(answers).toStrictEqual(
      cases.map((asked) => ({ ...asked, answer: allowedAnswer(asked) })),
    )
  },
)

async function aWorld(name: Name, apiKey: Case['apiKey']) {
  const deps = testDeps()
  const client = await anApiClient(deps)
  const visible = { 'idempotency-key': 'visible' }
  await call(deps, API.createPayment, { caller: client, headers: visible, body: aPaymentBody() })
  const authorization = await authorizationOf(deps, client.clientId, apiKey)
  const limited = { ...deps, stage: { ...deps.stage, clientRateLimit: 1 } }
  const own = apiKey === 'used up' ? limited : deps
  let fresh = 0
  const headersOf = ({ key }: Case) => {
    const text = { absent: '', fresh: `fresh-${fresh++}`, 'too long': 'k'.repeat(256) }
    return key === 'of a visible payment' ? visible : { 'idempotency-key': text[key] }
  }
  const send = (asked: Case) =>
    call(own, API[name], {
      headers: { ...headersOf(asked), ...(authorization !== undefined && { authorization }) },
      id: NO_ID,
      query: queryOf(asked),
      body: bodyOf(asked),
    })
  const first: Case = { name, apiKey, key: 'absent', query: 'none', body: 'none' }
  if (apiKey === 'used up') for (let at = 0; at < 3; at++) await send(first)
  const ask = async (asked: Case) => {
    const { status, body, headers } = await send(asked)
    const replayed = headers['idempotency-replayed'] === 'true' ? 'replayed' : ''
    const code = typeof body['code'] === 'string' ? body['code'] : replayed
    return `${status} ${code}`.trim()
  }
  return { ask }
}

async function authorizationOf(
  deps: ReturnType<typeof testDeps>,
  clientId: Parameters<typeof apiKeyText>[1],
  apiKey: Case['apiKey'],
) {
  if (apiKey === 'missing') return undefined
  if (apiKey === 'malformed') return 'Bearer gk_test_x'
  if (apiKey === 'unknown') return `Bearer ${apiKeyText('test', clientId, Buffer.alloc(32, 7))}`
  const { text, key } = await issueApiKey(deps, {
    clientId,
    operator: 'ayu',
    permissions: apiKey === 'read_only' ? 'read_only' : 'full',
    expiresInSeconds: apiKey === 'expired' ? 1 : null,
  })
  if (apiKey === 'expired') deps.clock.advance(1)
  const { keyId } = v.parse(ApiKeySchema, key)
  if (apiKey === 'revoked') await revokeApiKey(deps, { clientId, keyId, operator: 'ayu' })
  return `Bearer ${text}`
}

function queryOf({ name, query }: Case): Query {
  const { known = {}, wrong = {} } = QUERIES[name] ?? {}
  return { none: {}, known, unknown: { filter: 'x' }, wrong }[query]
}

function bodyOf({ name, body }: Case) {
  const valid = BODIES[name]
  return { none: undefined, 'no JSON': '{"amount":', 'unknown field': { ...valid, x: 1 }, valid }[
    body
  ]
}
