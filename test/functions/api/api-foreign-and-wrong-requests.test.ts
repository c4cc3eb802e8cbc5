import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { paymentIdForKey, SettlementIdSchema } from '../../../shared/ids.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findPayment, findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { END_OF_TIME } from '../../../shared/time.ts'
import {
  API,
  type ApiClient,
  anApi,
  anApiClient,
  aPaymentBody,
  call,
} from '../../support/api-event.ts'
import { storedSettlement } from '../../support/settlement-builders.ts'
import { memoryDeps, recordTable, type TestDeps } from '../../support/test-deps.ts'
import { ABANDONED, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

type Name = keyof typeof API
type Query = Readonly<Record<string, string>>
type Owned = (deps: TestDeps, owner: ApiClient) => Promise<string>

async function aPayment(deps: TestDeps, caller: ApiClient): Promise<string> {
  const { body } = await call(deps, API.createPayment, { caller, body: aPaymentBody() })
  return String(body['id'])
}

async function aClosedPayment(deps: TestDeps, caller: ApiClient): Promise<string> {
  const id = await aPayment(deps, caller)
  await closePayment(deps, await findPayment(deps, caller.clientId, id), {
    status: 'expired',
    source: 'due_work',
  })
  return id
}

/** A payment whose create died: its claim is all there is. */
async function aCreatingPayment(deps: TestDeps, caller: ApiClient): Promise<string> {
  deps.provider.script('createRequest', async () => ({ kind: 'unknown', reason: 'timeout' }))
  await call(deps, API.createPayment, {
    caller,
    body: aPaymentBody(),
    headers: { 'idempotency-key': 'k' },
  })
  return paymentIdForKey(caller.clientId, 'k')
}

async function aSettlementId(deps: TestDeps, { clientId }: ApiClient): Promise<string> {
  return (await storedSettlement(deps, { clientId })).settlementId
}

async function aDeliveryId(deps: TestDeps, { clientId }: ApiClient): Promise<string> {
  return (await storedDelivery(deps, await storedEndpoint(deps, { clientId }), ABANDONED))
    .deliveryId
}

const CASES: readonly (readonly [Name, what: string, Owned])[] = [
  ['getPayment', 'payment', aPayment],
  ['getPayment', 'closed payment', aClosedPayment],
  ['getPayment', 'payment in creation', aCreatingPayment],
  ['cancelPayment', 'payment', aPayment],
  ['cancelPayment', 'closed payment', aClosedPayment],
  ['cancelPayment', 'payment in creation', aCreatingPayment],
  ['getSettlement', 'settlement', aSettlementId],
  ['listSettlementPayments', 'settlement', aSettlementId],
  ['getWebhookDelivery', 'delivery', aDeliveryId],
  ['redeliverWebhook', 'delivery', aDeliveryId],
  [
    'redeliverToEndpoint',
    'endpoint',
    async (deps, owner) => (await storedEndpoint(deps, { clientId: owner.clientId })).endpointId,
  ],
]

const LISTS = [
  'listPayments',
  'listSettlements',
  'listWebhookEndpoints',
  'listWebhookDeliveries',
] as const

describe('an id of another client (spec 1, 7: like an id that does not exist)', () => {
  it.each(CASES)(
    '%s answers a foreign %s like an unknown id, and changes nothing',
    async (name, what, own) => {
      const { deps, caller } = await anApi()
      const foreign = await own(deps, await anApiClient(deps))
      const [callsBefore, watched] = [deps.provider.calls.length, recordTable(deps)]

      const answer = await call(watched.deps, API[name], { caller, id: foreign })
      const commands = watched.calls.map((made) => made.name)
      const absent = await call(watched.deps, API[name], { caller, id: deps.newId() })

      const headers = { ...absent.headers, 'x-request-id': answer.requestId }
      expect(answer).toStrictEqual({ ...absent, headers, requestId: answer.requestId })
      const body = {
        message: `${what.replace(/closed | in creation/, '')} not found`,
        code: 'not_found',
      }
      expect([answer.status, answer.body]).toStrictEqual([404, body])
      expect(commands).toStrictEqual(['batchGet', 'get'])
      expect(deps.provider.calls).toHaveLength(callsBefore)
    },
  )

  it('hides a payment that is being created from its owner too', async () => {
    const { deps, caller, ask } = await anApi()
    const id = await aCreatingPayment(deps, caller)

    const answers = [await ask('getPayment', { id }), await ask('cancelPayment', { id })]
    const { body } = await ask('listPayments')

    expect((await findStoredPayment(deps, paymentIdForKey(caller.clientId, 'k')))?.status).toBe(
      'creating',
    )
    expect(answers.map(({ status }) => status)).toStrictEqual([404, 404])
    expect(body).toMatchObject({ data: [], pagination: { total: 0 } })
  })

  it('lists and balance show no data of another client', async () => {
    const { deps, caller, ask } = await anApi()
    const owner = await anApiClient(deps)
    for (const own of [aPayment, aSettlementId, aDeliveryId]) await own(deps, owner)

    const lists = await Promise.all(LISTS.map((name) => ask(name)))
    const balance = await ask('getBalance')

    expect(lists.map(({ body }) => body['data'])).toStrictEqual(LISTS.map(() => []))
    expect(balance.body['client_id']).toBe(caller.clientId)
    expect([balance, ...lists].map(({ text }) => text).join()).not.toContain(owner.clientId)
  })
})

describe('an id of a wrong shape (design section 5: 404 without a read)', () => {
  const settlementId = v.parse(SettlementIdSchema, 'abcdef00-0000-4000-8000-00000000abcd')
  const changed = [
    settlementId.toUpperCase(),
    settlementId.replaceAll('-', ''),
    `${settlementId}#PAYMENT`,
  ]
  const SHAPES = [
    '',
    ...changed,
    `${settlementId}\n`,
    '../balance',
    '\u0000',
    '٠'.repeat(36),
    'a'.repeat(10_000),
  ]

  const NAMES = [...new Set(CASES.map(([name]) => name))]
  it.each(NAMES.flatMap((name) => SHAPES.map((id) => [name, id] as const)))(
    '%s of %j',
    async (name, id) => {
      const { deps, caller } = await anApi()
      const watched = recordTable(deps)

      const { status } = await call(watched.deps, API[name], { caller, id })

      expect([status, watched.calls.map((made) => made.name)]).toStrictEqual([404, ['batchGet']])
    },
  )
})

it.each<readonly [Name, Query, string]>([
  ['listPayments', { external_referense: 'order-17', status: 'succeeded' }, 'external_referense'],
  ['listPayments', { Page: '2' }, 'Page'],
  ['listSettlements', { cursor: 'x' }, 'cursor'],
  ['getPayment', { expand: 'all' }, 'expand'],
  ['createPayment', { dry_run: 'true' }, 'dry_run'],
  ['listPayments', { ['x'.repeat(65)]: '1' }, 'x'.repeat(64)],
])('%s refuses the unknown parameter in %j', async (name, query, unknown) => {
  const { ask, deps } = await anApi()

  const { status, body } = await ask(name, { query, body: aPaymentBody() })

  const field_errors = { [unknown]: ['unknown query parameter'] }
  const message = `unknown query parameter: ${unknown}`
  const refusal = {
    message,
    code: 'validation',
    field_errors,
    action_hint: expect.any(String) as unknown,
  }
  expect([status, body, deps.provider.calls]).toStrictEqual([422, refusal, []])
})

it.each<readonly [Name, Query]>([
  ['listPayments', { status: '', page: '', per_page: '' }],
  ['listSettlements', { page: '', per_page: '' }],
  ['getBalance', { currency: '', include: '' }],
  ['getBalance', { currency: 'IDR' }],
])('%s ignores %j', async (name, query) => {
  const { ask } = await anApi()
  await ask('createPayment', { body: aPaymentBody() })

  const { status, body } = await ask(name, { query })

  expect([status, body]).toStrictEqual([200, (await ask(name)).body])
})

const TOO_FAR = { page: 'page must be <= 9007199254740991' }
const NO_INTEGER = { page: 'page must be an integer', per_page: 'per_page must be an integer' }
const STATUS = { status: 'status must be one of pending, succeeded, failed, expired, cancelled' }
const DELIVERY_STATUS = { status: 'status must be one of scheduled, succeeded, abandoned, skipped' }
const KEY_ALONE = {
  idempotency_key: 'idempotency_key cannot be combined with external_reference or status',
}
const INCLUDE = { include: 'include must be settlements' }
const AFTER = { after: 'must be the cursor of an earlier answer to the same request' }
const TIME = { since: 'must be an RFC 3339 time' }
const UUID = { event_id: 'must be a lower-case UUID' }
function empty(name: string) {
  return { [name]: `${name} must not be empty` }
}
function tooLong(name: string) {
  return { [name]: `${name} must have at most 255 characters` }
}

/** A position of an event, as the answer's cursor has two. */
const right = {
  event_id: '7b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa',
  payment_id: '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d',
  name: 'payment.succeeded',
  fired_at: '2026-11-20T04:00:00.000Z',
}

const NO_DAY = { fired_at: '2026-02-30T00:00:00.000Z' }
const WRONG_POSITIONS: readonly unknown[] = [
  { ...right, client_id: 'x' },
  { ...right, fired_at: '2026-13-01T00:00:00.000Z' },
  { ...right, fired_at: END_OF_TIME },
  { ...right, name: 'payment.paid' },
  { ...right, name: `payment.reversed#${'é'.repeat(242)}` },
  { ...right, payment_id: '../x' },
  { ...right, since: right.fired_at },
]
const WRONG_CURSORS = [
  right,
  { fired_at: right.fired_at },
  { settled: right },
  { young: right },
  { settled: right, young: right, client_id: 'x' },
  { settled: right, young: { fired_at: right.fired_at } },
  { settled: right, young: { ...right, event_id: '1b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa' } },
  ...[null, [], {}, 7, 'text', { fired_at: '2026-11-20' }, NO_DAY, ...WRONG_POSITIONS].flatMap(
    (wrong) => [
      { settled: wrong, young: { fired_at: '8999-01-01T00:00:00.000Z' } },
      { settled: { fired_at: '1970-01-01T00:00:00.000Z' }, young: wrong },
    ],
  ),
].map((position) => Buffer.from(JSON.stringify(position)).toString('base64url'))

const NO_STATUSES = [' ', 'paid', 'PENDING', 'creating', 'pending,failed', 'constructor']
const NO_TIMES = ['yesterday', '2026-11-20', '2026-13-01T00:00:00Z', '2026-11-20T04:00:00 07:00']

type Refused = readonly [Name, Query, reasons: Query, message?: string]

function each<Value>(
  name: Name,
  values: readonly Value[],
  queryOf: (value: Value) => Query,
  reasons: Query,
) {
  return values.map((value): Refused => [name, queryOf(value), reasons])
}

it.for<Refused>([
  ...(['listPayments', 'listSettlements', 'listWebhookDeliveries'] as const).flatMap((name) => [
    ...each(name, ['9007199254740992', '9'.repeat(400)], (page) => ({ page }), TOO_FAR),
    ...each(name, ['x', '1.0'], (value) => ({ page: value, per_page: value }), NO_INTEGER),
  ]),
  ...each('listPayments', NO_STATUSES, (status) => ({ status }), STATUS),
  ['listPayments', { idempotency_key: '' }, empty('idempotency_key')],
  ['listPayments', { idempotency_key: 'k'.repeat(256) }, tooLong('idempotency_key')],
  ['listPayments', { idempotency_key: '😀'.repeat(128) }, tooLong('idempotency_key')],
  ['listPayments', { idempotency_key: 'k', status: 'pending' }, KEY_ALONE],
  ['listPayments', { idempotency_key: 'k', external_reference: 'order' }, KEY_ALONE],
  ['listPayments', { external_reference: '' }, empty('external_reference')],
  ['listPayments', { external_reference: '😀'.repeat(256) }, tooLong('external_reference')],
  ...each(
    'getBalance',
    ['payments', 'Settlements', 'settlements,settlements'],
    (include) => ({ include }),
    INCLUDE,
  ),
  ['getBalance', { currency: 'USD' }, { currency: 'unsupported currency: USD' }],
  ['getBalance', { currency: 'idr' }, { currency: 'unsupported currency: idr' }],
  [
    'getBalance',
    { currency: `${'x'.repeat(63)}👍` },
    { currency: `unsupported currency: ${'x'.repeat(63)}\ufffd` },
  ],
  ['listWebhookDeliveries', { status: 'pending' }, DELIVERY_STATUS],
  ['listWebhookDeliveries', { event_id: 'x' }, UUID, `event_id: ${UUID.event_id}`],
  ...NO_TIMES.map((since): Refused => ['listEvents', { since }, TIME, `since: ${TIME.since}`]),
  ...each('listEvents', ['1.5', 'all'], (limit) => ({ limit }), {
    limit: 'limit must be an integer',
  }),
  ...[' ', 'x', 'null', '[]', '{}', '0', '💥', 'a'.repeat(5_000), ...WRONG_CURSORS].map(
    (after): Refused => ['listEvents', { after }, AFTER, `after: ${AFTER.after}`],
  ),
])('%s refuses %j', async ([name, query, reasons, message = Object.values(reasons)[0]]) => {
  const { ask } = await anApi({}, memoryDeps())

  const { status, body } = await ask(name, { query })

  const { action_hint: _, ...refusal } = body
  const field_errors = Object.fromEntries(
    Object.entries(reasons).map(([field, reason]) => [field, [reason]]),
  )
  expect([status, refusal]).toStrictEqual([422, { message, code: 'validation', field_errors }])
})
