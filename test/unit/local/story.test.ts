import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { rowTeller } from '../../../infra/local/console/story/row-teller.ts'
import { tellLogLine } from '../../../infra/local/console/story/tell-log-line.ts'
import { DeliveryIdSchema, PaymentIdSchema, SettlementIdSchema } from '../../../shared/ids.ts'
import {
  attemptKey,
  deliveryKey,
  eventKey,
  paymentKey,
  settlementKey,
  suspenseKey,
} from '../../../shared/table/keys.ts'

const UUID = '00000000-0000-4000-8000-00000000000'
const paymentId = v.parse(PaymentIdSchema, `${UUID}1`)
const clientId = `${UUID}2`
const deliveryId = v.parse(DeliveryIdSchema, `${UUID}3`)
const settlementId = v.parse(SettlementIdSchema, `${UUID}4`)
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`

const PAYMENT = {
  ...paymentKey(paymentId),
  paymentId,
  clientId,
  attempt: 1,
  providerAttempts: [],
  status: 'pending',
  method: 'qris',
  notionalMinor: 100_000,
  providerFeeMinor: 700,
  markupMinor: 100,
  netMinor: 99_200,
  feeStatus: 'estimated',
  currency: 'IDR',
  paymentDestination: 'qr',
  createdAt: at(0),
  paymentRequestId: 'pr-1',
  transitions: [{ status: 'pending', at: at(0), source: 'create' }],
}
const paid = {
  ...PAYMENT,
  status: 'succeeded',
  paidAt: at(1),
  transitions: [...PAYMENT.transitions, { status: 'succeeded', at: at(2), source: 'due_work' }],
}
const final = { ...paid, feeStatus: 'actual', finalFee: { status: 'actual', feeMinor: 700, at: at(3) } }
const DELIVERY = {
  ...deliveryKey(deliveryId),
  deliveryId,
  eventId: `${UUID}5`,
  eventType: 'payment.succeeded',
  clientId,
  endpointId: `${UUID}6`,
  url: 'http://127.0.0.1/hooks',
  paymentId,
  attempts: 0,
  roundStart: 0,
  state: 'scheduled',
  createdAt: at(1),
  firedAt: at(1),
}
const SETTLEMENT = {
  ...settlementKey(settlementId),
  settlementId,
  clientId,
  periodStart: at(0),
  periodEnd: at(1),
  grossMinor: 100_000,
  providerFeesMinor: 700,
  markupMinor: 100,
  netMinor: 99_200,
  currency: 'IDR',
  paymentCount: 1,
  status: 'recorded',
  triggeredBy: 'auto',
  createdAt: at(4),
}
const SUSPENSE = {
  ...suspenseKey('py-1'),
  suspenseId: 'py-1',
  kind: 'money',
  cause: 'second_capture',
  createdAt: at(5),
}

describe('the story by the rows of the table', () => {
  it('tells each new fact of a row once, however often and by whichever version it comes', () => {
    const { tell } = rowTeller()
    const rows = [
      {
        ...PAYMENT,
        status: 'creating',
        request: { method: 'qris', notionalMinor: 1, currency: 'IDR' },
        claimedAt: at(0),
        mayExistUpstream: true,
        failure: 'no channel',
      },
      PAYMENT,
      paid,
      {
        ...eventKey(paymentId, 'payment.succeeded'),
        eventId: `${UUID}5`,
        type: 'payment.succeeded',
        clientId,
        paymentId,
        firedAt: at(1),
        body: '{}',
      },
      DELIVERY,
      { ...attemptKey(deliveryId, 1), number: 1, at: at(2), durationMs: 9, httpStatus: 500, error: 'http_status' },
      { ...DELIVERY, state: undefined, status: 'abandoned', attempts: 8 },
      final,
      { ...final, reversal: { kind: 'refund', amountMinor: 5_000, at: at(4) } },
      SETTLEMENT,
      { ...SETTLEMENT, status: 'failed', settledAt: at(5) },
      { ...SETTLEMENT, status: 'failed', settledAt: at(5), recreditedAt: at(6) },
      { ...SUSPENSE, status: 'open', amountMinor: 100_000 },
      { ...SUSPENSE, status: 'resolved', amountMinor: 100_000, resolution: 'refunded' },
    ]

    const told = rows.flatMap((row) => [row, row].flatMap(tell)).map(({ subject, tone, text }) => [subject, tone, text])

    expect(told).toStrictEqual([
      ['payment', 'bad', 'could not be created: no channel'],
      ['payment', 'plain', 'created: Rp 100,000 by qris'],
      ['payment', 'good', 'paid: Rp 100,000 (heard by due work)'],
      ['event', 'plain', 'payment.succeeded is to be told'],
      ['webhook', 'bad', 'payment.succeeded to http://127.0.0.1/hooks: answered 500 in 9 ms (attempt 1)'],
      ['webhook', 'bad', 'http://127.0.0.1/hooks was given up after 8 attempts'],
      ['payment', 'good', 'fee is final: Rp 700 (actual); net Rp 99,200'],
      ['payment', 'bad', 'Rp 5,000 went back: refund'],
      ['settlement', 'good', 'recorded: Rp 99,200 of 1 payment is to be paid out'],
      ['settlement', 'bad', 'the payout of Rp 99,200 failed'],
      ['settlement', 'plain', 'Rp 99,200 is available again'],
      ['suspense', 'bad', 'money second capture, Rp 100,000 (py-1)'],
      ['suspense', 'good', 'resolved: money second capture, Rp 100,000 (py-1)'],
    ])
  })

  it.each([{}, { ...paymentKey(paymentId) }, { ...PAYMENT, status: 'of tomorrow' }, { pk: 'x', sk: 'y' }])(
    'tells nothing of a row that it cannot read: %j',
    (row) => {
      expect(rowTeller().tell(row)).toStrictEqual([])
    },
  )
})

describe('the story by the log', () => {
  const line = (message: string, fields: object = {}) =>
    tellLogLine(JSON.stringify({ timestamp: at(0), message, ...fields }))

  it.each([
    ['operator.action', { action: 'gateway-local-get-payment' }],
    ['operator.refused', { action: 'gateway-local-list-clients', code: 'validation' }],
    ['sync.completed', { transactions: 0 }],
    ['request.completed', { route: 'GET /v1/payments' }],
    ['constructor', {}],
  ])('leaves out looks and rounds without work: %s', (message, fields) => {
    expect(line(message, fields)).toBeUndefined()
  })

  it.each([
    [
      'provider.call_failed',
      { operation: 'create_request', reason: 'timeout' },
      'bad',
      'create_request went wrong: timeout',
    ],
    [
      'operator.refused',
      { action: 'gateway-local-redeliver', code: 'not_found' },
      'bad',
      'redeliver was refused: not_found',
    ],
    ['audit.completed', { balanced: 'true' }, 'good', 'the books balance'],
    ['audit.completed', { balanced: 'false' }, 'bad', 'the books do not balance'],
    ['audit.completed', { balanced: 'inconclusive' }, 'plain', 'the books could not be told right or wrong'],
  ])('tells %s %j', (message, fields, tone, text) => {
    expect(line(message, fields)).toMatchObject({ at: at(0), tone, text })
  })
})
