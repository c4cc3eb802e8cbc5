/**
 * Goal: each movement of a payment's money has one event, in the same transaction (design section 8). Method: provider
 * rows move a posted or an open payment of a client with endpoints. The test reads the written items and the messages.
 */
import { describe, expect } from 'vitest'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { deliveriesOfEvent } from '../../../shared/webhook/delivery/list-deliveries.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { aChargeback, aRefund, aVoid, aWin } from '../../support/money-rows.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { it, now } from './worked-case.ts'

const move = async (deps: TestDeps, payment: Payment, row: MoneyRow) => movePayment(deps, await now(deps, payment), row)

const reversedEvents = async (deps: TestDeps, { paymentId }: Payment) =>
  (await listPaymentEvents(deps, paymentId)).filter(({ type }) => type === 'payment.reversed')

/** What the events of a payment say, oldest first; those of one moment by their names. */
const told = async (deps: TestDeps, payment: Payment) =>
  (await reversedEvents(deps, payment))
    .toSorted((a, b) => (a.firedAt < b.firedAt ? -1 : 1))
    .map(({ body }) => JSON.parse(body) as { readonly event: string; readonly data: object })

describe('payment.reversed', () => {
  it('states the kind of each movement, and the total that was taken back', async ({ deps, payment }) => {
    await move(deps, payment, aRefund(deps, 10_000))
    deps.clock.advance(60)
    await move(deps, payment, aChargeback(deps, 20_000))
    deps.clock.advance(60)
    await move(deps, payment, aWin(deps, 20_000))

    const event = 'payment.reversed'
    expect(await told(deps, payment)).toMatchObject([
      { event, data: { type: 'refund', amount_minor: 10_000, taken_back_minor: 10_000 } },
      { event, data: { type: 'chargeback', amount_minor: 20_000, taken_back_minor: 30_000 } },
      { event, data: { type: 'dispute_won', amount_minor: 20_000, taken_back_minor: 10_000 } },
    ])
  })

  it('is sent for an open payment, and for one that is voided before it is posted', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)
    const refund = aRefund(deps, 10_000)
    await move(deps, open, refund)
    deps.clock.advance(60)
    await move(deps, open, aVoid(deps, 'own', open.notionalMinor, true))
    deps.clock.advance(60)
    await move(deps, open, aVoid(deps, refund.transactionId, 10_000))

    const about = { id: open.paymentId, status: 'succeeded' }
    expect(await told(deps, open)).toMatchObject([
      { data: { ...about, type: 'refund', amount_minor: 10_000, taken_back_minor: 10_000 } },
      { data: { ...about, type: 'reversal', amount_minor: 100_000, taken_back_minor: open.netMinor } },
      { data: { ...about, type: 'reversal', amount_minor: 10_000, taken_back_minor: open.netMinor } },
    ])
  })

  it('goes to the endpoints that name it: `*` means the events of the specification', async ({ deps, payment }) => {
    const { clientId } = payment
    await storedEndpoint(deps, { clientId, eventTypes: ['*'] })
    const named = await storedEndpoint(deps, { clientId, eventTypes: ['payment.reversed'] })
    const both = await storedEndpoint(deps, { clientId, eventTypes: ['*', 'payment.reversed'] })

    await move(deps, payment, aRefund(deps, 10_000))

    const [event] = await reversedEvents(deps, payment)
    const deliveries = event ? await deliveriesOfEvent(deps, clientId, event.eventId) : []
    const ids = deliveries.map(({ delivery }) => delivery.endpointId)
    expect(ids.toSorted()).toStrictEqual([named.endpointId, both.endpointId].toSorted())
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(2)
  })

  it('is not written with endpoints that were read more than five seconds before', async ({ deps, payment }) => {
    const { clientId } = payment
    let reads = 0
    const slow = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'query' || ++reads > 1) return
        deps.clock.advance(6)
        await storedEndpoint(deps, { clientId, eventTypes: ['payment.reversed'] })
      },
    })

    await movePayment(slow, await now(deps, payment), aRefund(deps, 10_000))

    const [event] = await reversedEvents(deps, payment)
    expect(event?.firedAt).toBe(deps.now())
    expect(event && (await deliveriesOfEvent(deps, clientId, event.eventId))).toHaveLength(1)
  })
})
