import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { rowTeller } from '../../../infra/local/console/story/row-teller.ts'
import { tellLogLine } from '../../../infra/local/console/story/tell-log-line.ts'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import {
  attemptKey,
  deliveryKey,
  eventKey,
  paymentKey,
  settlementKey,
  suspenseKey,
} from '../../../shared/table/keys.ts'
import type { Timestamp } from '../../../shared/time.ts'
import { aClient } from '../../support/client-builders.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { succeededPayment } from '../../support/paid-builders.ts'
import { storedSettlement } from '../../support/payout-builders.ts'
import { anEvent, attemptOf, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const paymentId = v.parse(PaymentIdSchema, '00000000-0000-4000-8000-000000000001')
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z` as Timestamp

const paid = {
  ...paymentKey(paymentId),
  ...succeededPayment(aClient(), { paymentId, paidAt: at(1) }),
  method: 'qris',
  channelCode: undefined,
}
const final = { ...paid, feeStatus: 'actual', finalFee: { status: 'actual', feeMinor: 4_000, at: at(3) } }
const PAYMENT = { ...paid, status: 'pending', paidAt: undefined, transitions: paid.transitions.slice(0, 1) }
const suspense = (status: string, fields = {}) => ({
  ...suspenseKey('py-1'),
  suspenseId: 'py-1',
  kind: 'money',
  cause: 'second_capture',
  amountMinor: 100_000,
  createdAt: at(5),
  status,
  ...fields,
})

describe('the story by the rows of the table', () => {
  it('tells each new fact of a row once, however often and by whichever version it comes', async () => {
    const deps = memoryDeps()
    const event = anEvent(at(1), { paymentId })
    const stored = await storedDelivery(deps, await storedEndpoint(deps), {}, event)
    const delivery = { ...deliveryKey(stored.deliveryId), ...stored }
    const recorded = await storedSettlement(deps, { paymentCount: 1 })
    const settlement = { ...settlementKey(recorded.settlementId), ...recorded }
    const request = { method: 'qris', notionalMinor: 1, currency: 'IDR' }
    const rows = [
      { ...PAYMENT, status: 'creating', request, claimedAt: at(0), mayExistUpstream: true, failure: 'no channel' },
      PAYMENT,
      paid,
      { ...eventKey(paymentId, event.type), ...event },
      delivery,
      { ...attemptKey(stored.deliveryId, 1), ...attemptOf(deps, 1) },
      { ...delivery, status: 'abandoned', attempts: 8 },
      final,
      { ...final, reversal: { kind: 'refund', amountMinor: 5_000, at: at(4) } },
      settlement,
      { ...settlement, status: 'failed', settledAt: at(5) },
      { ...settlement, status: 'failed', settledAt: at(5), recreditedAt: at(6) },
      suspense('open'),
      suspense('resolved', { resolution: 'refunded' }),
    ]

    const { tell } = rowTeller()
    const told = rows.flatMap((row) => [row, row].flatMap(tell)).map(({ subject, tone, text }) => [subject, tone, text])

    expect(told).toStrictEqual([
      ['payment', 'bad', 'could not be created: no channel'],
      ['payment', 'plain', 'created: Rp 100,000 by qris'],
      ['payment', 'good', 'paid: Rp 100,000 (heard by callback)'],
      ['event', 'plain', 'payment.succeeded is to be told'],
      ['webhook', 'bad', 'payment.succeeded to https://merchant.example/hooks: answered 500 in 5 ms (attempt 1)'],
      ['webhook', 'bad', 'https://merchant.example/hooks was given up after 8 attempts'],
      ['payment', 'good', 'fee is final: Rp 4,000 (actual); net Rp 95,900'],
      ['payment', 'bad', 'Rp 5,000 went back: refund'],
      ['settlement', 'good', 'recorded: Rp 287,700 of 1 payment is to be paid out'],
      ['settlement', 'bad', 'the payout of Rp 287,700 failed'],
      ['settlement', 'plain', 'Rp 287,700 is available again'],
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

  const refused = { action: 'gateway-local-redeliver', code: 'not_found' }

  it.each([
    [
      'bad',
      'create_request went wrong: timeout',
      'provider.call_failed',
      { operation: 'create_request', reason: 'timeout' },
    ],
    ['bad', 'redeliver was refused: not_found', 'operator.refused', refused],
    ['good', 'the books balance', 'audit.completed', { balanced: 'true' }],
    ['bad', 'the books do not balance', 'audit.completed', { balanced: 'false' }],
    ['plain', 'the books could not be told right or wrong', 'audit.completed', { balanced: 'inconclusive' }],
  ])('tells as %s: %s', (tone, text, message, fields) => {
    expect(line(message, fields)).toMatchObject({ at: at(0), tone, text })
  })
})
