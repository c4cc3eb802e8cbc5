import * as fc from 'fast-check'
import type { HttpCall, HttpOutcome } from '../../../shared/provider/call-json.ts'
import { hostileJson, nearlyRight, weighted } from '../../support/hostile-values.ts'
import {
  CAPTURED_PAYMENT,
  PAID_REQUEST,
  SETTLED_TRANSACTION,
  VA_NUMBER,
} from '../../support/scripted-provider.ts'

/** Texts that begin with a dollar are replaced by the ids of the tested payment. */
const IDS = { payment_request_id: '$request', reference_id: '$reference' }
const OPEN = {
  status: 'REQUIRES_ACTION',
  latest_payment_id: null,
  request_amount: 100_000,
  actions: [VA_NUMBER],
}
const OTHER_IDS = {
  payment_request_id: ['pr-other'],
  reference_id: [`${crypto.randomUUID()}-1`, 'not-ours'],
}

const PAID = { status: 'SUCCEEDED', latest_payment_id: '$payment' }

const request = fc
  .constantFrom({}, { status: 'FAILED' }, { status: 'CANCELED' }, PAID)
  .chain((state) =>
    nearlyRight(
      { ...PAID_REQUEST, ...IDS, ...OPEN, ...state },
      {
        ...OTHER_IDS,
        status: ['FAILED', 'EXPIRED', 'CANCELED', 'SUCCEEDED'],
        latest_payment_id: ['$payment', '', null],
        request_amount: ['100000', 99_999],
        actions: [[], [{ descriptor: 'VIRTUAL_ACCOUNT_NUMBER' }], [VA_NUMBER, { value: 7 }]],
      },
    ),
  )

export type Kind = keyof typeof BODIES

const payment = nearlyRight(
  { ...CAPTURED_PAYMENT, ...IDS, payment_id: '$payment', captures: capturesOf(100_000) },
  {
    ...OTHER_IDS,
    payment_id: ['py-other'],
    currency: ['PHP'],
    status: ['FAILED', 'AUTHORIZED', 'CANCELED'],
    captures: [[], [50_000, 50_000], [50_000], ['100000'], [99_999.5, 0.5], [100_000, -1]].map(
      (amounts) => capturesOf(...amounts),
    ),
  },
)

const TIMES = [
  '2026-11-20T03:00:00Z',
  '2026-11-20T03:00:00.123456',
  '9999-12-31T23:59:59-23:59',
  'yesterday',
]
const ABOUT = {
  product_id: '$payment',
  reference_id: '$reference',
  product_data: { payment_request_id: '$request' },
}
const SETTLED = {
  amount: 100_000,
  net_amount: 95_560,
  estimated_settlement_time: TIMES[0],
  updated: TIMES[0],
}

const VOID = { status: 'REVERSED', settlement_status: null }

const transaction = fc
  .constantFrom({}, {}, VOID)
  .chain((state) =>
    nearlyRight(
      { ...SETTLED_TRANSACTION, ...ABOUT, ...SETTLED, ...state },
      {
        type: ['REFUND', 'CHARGEBACK_REVERSAL', 'TYPE_OF_TOMORROW'],
        id: ['txn-2', 'x'.repeat(3_000)],
        product_id: ['py-other', '', 'p'.repeat(3_000)],
        reference_id: ['not-ours', ''],
        status: ['PENDING', 'REVERSED', 'FAILED'],
        currency: ['PHP'],
        amount: ['100000', 7],
        net_amount: [100_000, -3_000, 200_000, null],
        settlement_status: ['PENDING', 'EARLY_SETTLED'],
        estimated_settlement_time: TIMES,
        updated: TIMES,
        fee: [{ status: 'PENDING' }, { status: 'CANCELED' }, { status: '' }, {}],
        product_data: [{}, null],
      },
    ),
  )

const transactions = fc
  .tuple(
    fc.constantFrom(false, false, true),
    fc.array(transaction.map(withOwnId), { maxLength: 3 }),
  )
  .chain(([has_more, data]) =>
    weighted([6, fc.constant({ has_more, data })], [1, nearlyRight({ has_more, data })]),
  )

const BODIES = { create: request, request, payment, cancel: request, transactions }

const error = nearlyRight(
  { error_code: 'INACTIVE_PAYMENT_REQUEST' },
  { error_code: ['DUPLICATE_ERROR', 'DATA_NOT_FOUND'] },
)
const anyStatus = fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 409, 429, 500, 503)

export const anyOutcomes = fc.record({
  create: outcomesOf('create'),
  request: outcomesOf('request'),
  payment: outcomesOf('payment'),
  cancel: outcomesOf('cancel'),
  transactions: outcomesOf('transactions'),
})
export type Outcomes = typeof anyOutcomes extends fc.Arbitrary<infer Value> ? Value : never

export function kindOf({ method, url: { pathname } }: HttpCall) {
  if (pathname.endsWith('/cancel')) return 'cancel'
  if (pathname.startsWith('/transactions')) return 'transactions'
  if (pathname.startsWith('/v3/payments/')) return 'payment'
  return method === 'POST' ? 'create' : 'request'
}

function capturesOf(...amounts: readonly unknown[]) {
  return amounts.map((capture_amount) => ({ capture_amount }))
}

/** The type of a transaction never changes, so each type has its own ids. */
function withOwnId(row: unknown) {
  const { id, type } = Object(row) as Readonly<Record<string, unknown>>
  return id === 'txn_1' || id === 'txn-2'
    ? Object.assign({}, row, { id: `${id}-${String(type)}` })
    : row
}

function outcomesOf(kind: Kind) {
  return fc.array(anyOutcome(kind), { minLength: 1, maxLength: 3 })
}

function anyOutcome(kind: Kind) {
  return weighted(
    [8, anAnswer(fc.constant(200), BODIES[kind])],
    [3, anAnswer(anyStatus, fc.oneof(BODIES[kind], error, hostileJson, fc.constant(undefined)))],
    [1, fc.constant<HttpOutcome>({ kind: 'not_sent', reason: 'ECONNREFUSED' })],
    [1, fc.constant<HttpOutcome>({ kind: 'lost', reason: 'timeout' })],
  )
}

function anAnswer(
  status: fc.Arbitrary<number>,
  json: fc.Arbitrary<unknown>,
): fc.Arbitrary<HttpOutcome> {
  return fc.record({ kind: fc.constant('answered'), status, json })
}
