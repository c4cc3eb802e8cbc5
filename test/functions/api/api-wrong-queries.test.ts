import * as v from 'valibot'
import { expect, it } from 'vitest'
import { END_OF_TIME } from '../../../shared/time.ts'
import { API, anApi, aPaymentBody, type Query } from '../../support/api-event.ts'
import { memoryDeps } from '../../support/test-deps.ts'

type Name = keyof typeof API

it.each<readonly [Name, Query, string]>([
  ['listPayments', { external_referense: 'order-17', status: 'succeeded' }, 'external_referense'],
  ['listPayments', { Page: '2' }, 'Page'],
  ['listPayments', { statuss: '' }, 'statuss'],
  ['listSettlements', { cursor: 'x' }, 'cursor'],
  ['listWebhookEndpoints', { url: 'https://shop.example' }, 'url'],
  ['listPayments', { ['x'.repeat(65)]: '1' }, 'x'.repeat(64)],
])('%s refuses the unknown parameter in %j', async (name, query, unknown) => {
  const { ask, deps } = await anApi()

  const { status, body } = await ask(name, { query, body: aPaymentBody() })

  const field_errors = { [unknown]: ['unknown query parameter'] }
  const message = `unknown query parameter: ${unknown}`
  const refusal = { message, code: 'validation', field_errors, action_hint: expect.any(String) }
  expect([status, body, deps.provider.calls]).toStrictEqual([422, refusal, []])
})

it.each([
  ['external_reference', 'external_reference=a&external_reference=a'],
  ['status', 'page=1&status=pending&status=failed'],
  ['per_page', 'per_page=1&per_page='],
])('GET /v1/payments names %s, which %s gives twice', async (name, query) => {
  const { ask } = await anApi()

  const { status, body } = await ask('listPayments', { query })

  expect([status, body['field_errors']]).toStrictEqual([422, { [name]: ['given twice'] }])
})

it.each<readonly [Name, Query]>([
  ['listPayments', { status: '', page: '', per_page: '' }],
  ['listSettlements', { page: '', per_page: '' }],
  ['getBalance', { currency: '', include: '' }],
  ['getBalance', { currency: 'IDR' }],
])('%s ignores empty parameters and the default currency: %j', async (name, query) => {
  const { ask } = await anApi()
  await ask('createPayment', { body: aPaymentBody() })

  const { status, body } = await ask(name, { query })

  expect([status, body]).toStrictEqual([200, (await ask(name)).body])
})

it('GET /v1/payments and GET /v1/settlements (spec 4.2, 4.6) clamp page and per_page; pages of payments are counted, rounded up', async () => {
  const { ask } = await anApi()
  for (let made = 0; made < 3; made++) await ask('createPayment', { body: aPaymentBody() })
  const shown = async (name: Name, query: Query) => (await ask(name, { query })).body['pagination']
  const CLAMPED: readonly [Query, page: number, perPage: number, pages: number][] = [
    [{}, 1, 25, 1],
    [{ page: '-1', per_page: '101' }, 1, 100, 1],
    [{ page: '0', per_page: '0' }, 1, 1, 3],
    [{ page: '2', per_page: '2' }, 2, 2, 2],
  ]

  for (const [query, page, per_page, total_pages] of CLAMPED) {
    const totals = { total: 3, total_pages }
    expect(await shown('listPayments', query)).toStrictEqual({ page, per_page, ...totals })
    expect(await shown('listSettlements', query)).toStrictEqual({ page, per_page })
  }
})

it.each([API.listSettlementPayments, API.getStatement])(
  '$route (design section 8) shows 100 rows, or as many as are asked, up to 1,000',
  ({ handler }) => {
    const asked = [{}, { limit: '9999' }].map((query) => v.parse(handler.query, query))

    expect(asked).toMatchObject([{ limit: 100 }, { limit: 1_000 }])
  },
)

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
const OFFSET = { since: `${TIME.since}; in a query, write the + of an offset as %2B` }
const UUID = { event_id: 'must be a lower-case UUID' }
function empty(name: string) {
  return { [name]: `${name} must not be empty` }
}
function tooLong(name: string) {
  return { [name]: `${name} must have at most 255 characters` }
}

/** The position of an event. The cursor of an answer has two positions. */
const POSITION = {
  event_id: '7b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa',
  subject: { kind: 'payment', id: '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d' },
  name: 'payment.succeeded',
  fired_at: '2026-11-20T04:00:00.000Z',
}

const NO_DAY = { fired_at: '2026-02-30T00:00:00.000Z' }
const WRONG_POSITIONS: readonly unknown[] = [
  { ...POSITION, client_id: 'x' },
  { ...POSITION, fired_at: '2026-13-01T00:00:00.000Z' },
  { ...POSITION, fired_at: END_OF_TIME },
  { ...POSITION, name: 'payment.paid' },
  { ...POSITION, name: `payment.reversed#${'é'.repeat(242)}` },
  { ...POSITION, subject: { kind: 'payment', id: '../x' } },
  { ...POSITION, since: POSITION.fired_at },
]
const WRONG_CURSORS = [
  POSITION,
  { fired_at: POSITION.fired_at },
  { settled: POSITION },
  { young: POSITION },
  { settled: POSITION, young: POSITION, client_id: 'x' },
  { settled: POSITION, young: { fired_at: POSITION.fired_at } },
  { settled: POSITION, young: { ...POSITION, event_id: '1b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa' } },
  ...[null, [], {}, 7, 'text', { fired_at: '2026-11-20' }, NO_DAY, ...WRONG_POSITIONS].flatMap(
    (wrong) => [
      { settled: wrong, young: { fired_at: '8999-01-01T00:00:00.000Z' } },
      { settled: { fired_at: '1970-01-01T00:00:00.000Z' }, young: wrong },
    ],
  ),
].map((position) => Buffer.from(JSON.stringify(position)).toString('base64url'))

const NO_STATUSES = [' ', 'paid', 'PENDING', 'creating', 'pending,failed', 'constructor']
const NO_TIMES = ['yesterday', '2026-11-20', '2026-13-01T00:00:00Z']

type RefusedQuery = readonly [Name, Query, reasons: Query, message?: string]

function each<Value>(
  name: Name,
  values: readonly Value[],
  queryOf: (value: Value) => Query,
  reasons: Query,
) {
  return values.map((value): RefusedQuery => [name, queryOf(value), reasons])
}

it.for<RefusedQuery>([
  ...(['listPayments', 'listSettlements', 'listWebhookDeliveries'] as const).flatMap((name) => [
    ...each(name, ['9007199254740992', '9'.repeat(400)], (page) => ({ page }), TOO_FAR),
    ...each(name, ['x', '1.0'], (value) => ({ page: value, per_page: value }), NO_INTEGER),
  ]),
  ...each('listPayments', NO_STATUSES, (status) => ({ status }), STATUS),
  ['listPayments', { idempotency_key: '' }, empty('idempotency_key')],
  ['listPayments', { idempotency_key: 'k'.repeat(256) }, tooLong('idempotency_key')],
  ...each('listPayments', ['é', '“7”', 'a\tb'], (key) => ({ idempotency_key: key }), {
    idempotency_key: 'idempotency_key must have only printable ASCII characters',
  }),
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
  ...NO_TIMES.map((since): RefusedQuery => ['listEvents', { since }, TIME, `since: ${TIME.since}`]),
  ['listEvents', { since: '2026-11-20T10:00:00 07:00' }, OFFSET, `since: ${OFFSET.since}`],
  ...each('listEvents', ['1.5', 'all'], (limit) => ({ limit }), {
    limit: 'limit must be an integer',
  }),
  ...[
    ' ',
    'x',
    'null',
    '[]',
    '{}',
    '0',
    '💥',
    'a'.repeat(5_000),
    'W1tb'.repeat(30_000),
    ...WRONG_CURSORS,
  ].map((after): RefusedQuery => ['listEvents', { after }, AFTER, `after: ${AFTER.after}`]),
])(
  '%s refuses the values in %j',
  async ([name, query, reasons, message = Object.values(reasons)[0]]) => {
    const { ask } = await anApi({}, memoryDeps())

    const { status, body } = await ask(name, { query })

    const { action_hint: _, ...refusal } = body
    const field_errors = Object.fromEntries(
      Object.entries(reasons).map(([field, reason]) => [field, [reason]]),
    )
    expect([status, refusal]).toStrictEqual([422, { message, code: 'validation', field_errors }])
  },
)
