import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import type { Event } from '../../../shared/event/event.ts'
import { NO_LEGS } from '../../../shared/journal/entry.ts'
import { bookingsOf } from '../../../shared/journal/house-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { type Posting, postPayments } from '../../../shared/posting/post-payments.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { deliveriesOfEvent } from '../../../shared/webhook/delivery/list-deliveries.ts'
import { aChargeback, aRefund, aVoid, aWin, bookRefund } from '../../support/money-rows.ts'
import {
  aDigestOfShard,
  anOpenPayment,
  entriesIn,
  post,
  settledRowFor,
  storeOpen,
  succeededPayment,
} from '../../support/paid-builders.ts'
import { aPendingPayment, eventsOf, ledgerView } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import {
  afterFirst,
  interceptTable,
  recordTable,
  type TableCall,
  type TestDeps,
} from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { it, move, reread } from './worked-case.ts'

async function openPaymentsOfOneShard(deps: TestDeps, client: Client, count: number) {
  const fields = () => ({ keyDigest: aDigestOfShard(client, 7), paidAt: deps.now() })
  const open = Array.from({ length: count }, () => succeededPayment(client, fields()))
  await storeOpen(deps, open)
  return open
}

function postingByRow(payment: Payment): Posting {
  return { payment, by: { row: settledRowFor(payment) } }
}

function transactionsIn(calls: ReturnType<typeof recordTable>['calls']) {
  return calls.flatMap((call) => (call.name === 'transact' ? [call.steps.length] : []))
}

describe('postPayments (design section 12)', () => {
  it('writes the final fee, the entry and the change of net in one transaction', async ({
    deps,
    client,
  }) => {
    const open = await anOpenPayment(deps, client)
    deps.clock.advance(3_600)

    const postedPayment = await post(deps, open, { feeMinor: 4_440 })

    const { openAt: _, ...storedFields } = open
    const { paymentId, paidAt } = open
    const [postedAt, transactionId] = [deps.now(), `txn_${paymentId}`]
    expect(await paymentOf(deps, { payment: open })).toEqual({
      ...storedFields,
      providerFeeMinor: 4_440,
      netMinor: 95_460,
      feeStatus: 'actual',
      finalFee: { status: 'actual', feeMinor: 4_440, at: postedAt },
      providerSettledAt: paidAt,
      postedAt,
      ownRow: { transactionId, providerMinor: 95_560 },
      moneyVersion: 1,
    })
    expect(postedPayment).toMatchObject({ netMinor: 95_460, postedAt, moneyVersion: 1 })
    const entry = {
      entryId: expect.any(String),
      type: 'payment',
      grossMinor: 100_000,
      feeMinor: 4_440,
      markupMinor: 100,
      netMinor: 95_460,
      ...NO_LEGS,
      providerMinor: 95_560,
      paymentId,
      method: 'virtual_account',
      channelCode: 'BCA',
      providerTransactionId: transactionId,
      eligibleAt: addMs(paidAt ?? postedAt, DAY_MS),
      postedAt,
      providerSettledAt: paidAt,
      paidAt,
    }
    expect(await entriesIn(deps, client)).toEqual([entry])
    expect(await ledgerView(deps, client)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })
})

describe('payments of one page', () => {
  it('share a transaction if they share a shard, at most 45 payments each', async ({
    deps,
    client,
  }) => {
    const open = await openPaymentsOfOneShard(deps, client, 46)
    const { deps: recorded, calls } = recordTable(deps)

    // Two rows name one payment.
    const postings = [...open, ...open.slice(0, 1)].map(postingByRow)

    const answers = await postPayments(recorded, postings)

    const ids = open.map(({ paymentId }) => paymentId)
    expect(answers.map((payment) => payment?.paymentId)).toStrictEqual([...ids, undefined])
    expect(transactionsIn(calls).toSorted((a, b) => a - b)).toStrictEqual([3, 91])
  })

  it('stay within the hundred items of a transaction, with their reversals', async ({
    deps,
    client,
  }) => {
    const refunds = [48, 48, 47, 48]
    const open = await openPaymentsOfOneShard(deps, client, refunds.length)
    const movedPayments: Payment[] = []
    for (const [at, payment] of open.entries()) {
      for (let left = refunds[at] ?? 0; left > 0; left--) await bookRefund(deps, payment, 10)
      movedPayments.push(await paymentOf(deps, { payment }))
    }
    const { deps: recorded, calls } = recordTable(deps)

    await postPayments(recorded, movedPayments.map(postingByRow))

    // A transaction writes the shard, each payment, its entry and its refunds' entries. The first
    // two payments together would need 101 items.
    expect(transactionsIn(calls).toSorted((a, b) => a - b)).toStrictEqual([51, 51, 100])
    expect(await entriesIn(deps, client)).toHaveLength(4 + 3 * 48 + 47)
  })

  it('do not block each other: only a payment that has changed is refused', async ({
    deps,
    client,
  }) => {
    const open = await openPaymentsOfOneShard(deps, client, 5)
    const [changed] = open
    if (changed) await bookRefund(deps, changed, 30_000)

    const answers = await postPayments(deps, open.map(postingByRow))

    expect(answers.map((payment) => payment !== undefined)).toStrictEqual([
      false,
      true,
      true,
      true,
      true,
    ])
    expect(await entriesIn(deps, client)).toHaveLength(4)
  })
})

/**
 * Goal: each movement of a payment's money has one event, in the same transaction (design section
 * 8). Method: provider rows move a posted or an open payment of a client with endpoints. The test
 * reads the written items and the messages.
 */

async function reversedEvents(deps: TestDeps, { paymentId }: Payment) {
  return (await eventsOf(deps, { paymentId })).filter(
    (event) => event?.type === 'payment.reversed',
  ) as readonly Event[]
}

async function reversalBodies(deps: TestDeps, payment: Payment) {
  return (await reversedEvents(deps, payment))
    .toSorted((a, b) => (a.firedAt < b.firedAt ? -1 : 1))
    .map(({ body }) => JSON.parse(body) as { readonly event: string; readonly data: object })
}

it('a row of an unpaid payment moves nothing', async ({ deps, client }) => {
  const pending = await aPendingPayment(deps, client)

  await expect(bookRefund(deps, pending, 10_000)).rejects.toThrow('kept changing')
})

it('a movement that is tried again leaves the house a row that it has booked', async ({
  deps,
  payment,
}) => {
  const row = aRefund(deps, 30_000)
  const races = [
    () => bookRefund(deps, payment, 1_000),
    () => bookUnmatchedRow(deps, { ...row, rowAt: row.at }),
  ]
  const before = ({ name }: TableCall) => (name === 'transact' ? races.shift()?.() : undefined)

  await move(interceptTable(deps, { before }), payment, row)

  expect((await reread(deps, payment)).movements).toMatchObject([{ amountMinor: 1_000 }])
})

it('the house books no row that has moved a payment', async ({ deps, payment }) => {
  for (const row of [aChargeback(deps, 100_000), aWin(deps, 100_000)]) {
    await move(deps, payment, row)
    await bookUnmatchedRow(deps, { ...row, rowAt: row.at })
    expect(await bookingsOf(deps, { ...row, rowAt: row.at })).toStrictEqual({})
  }
})

describe('payment.reversed', () => {
  // Public report: akash console #2302.
  it('states the kind of each movement, and the total that was taken back', async ({
    deps,
    payment,
  }) => {
    await move(deps, payment, aRefund(deps, 10_000))
    deps.clock.advance(60)
    await move(deps, payment, aChargeback(deps, 20_000))
    deps.clock.advance(60)
    await move(deps, payment, aWin(deps, 20_000))

    const event = 'payment.reversed'
    expect(await reversalBodies(deps, payment)).toMatchObject([
      { event, data: { type: 'refund', amount_minor: 10_000, taken_back_minor: 10_000 } },
      { event, data: { type: 'chargeback', amount_minor: 20_000, taken_back_minor: 30_000 } },
      { event, data: { type: 'dispute_won', amount_minor: 20_000, taken_back_minor: 10_000 } },
    ])
    expect((await reread(deps, payment)).reversal).toMatchObject({
      kind: 'refund',
      amountMinor: 10_000,
    })
  })

  it('is sent for an open payment, and for a payment that is voided before it is posted', async ({
    deps,
    client,
  }) => {
    const open = await anOpenPayment(deps, client)
    const refund = aRefund(deps, 10_000)
    await move(deps, open, refund)
    deps.clock.advance(60)
    await move(deps, open, aVoid(deps, `own-${open.paymentId}`, open.notionalMinor, true))
    deps.clock.advance(60)
    await move(deps, open, aVoid(deps, refund.transactionId, 10_000))

    // The last row gives money back to the house alone.
    expect(deps.published.at(-1)?.subject).toMatch(/#money_came_back$/)
    const about = { id: open.paymentId, status: 'succeeded' }
    expect(await reversalBodies(deps, open)).toMatchObject([
      { data: { ...about, type: 'refund', amount_minor: 10_000, taken_back_minor: 10_000 } },
      {
        data: {
          ...about,
          type: 'reversal',
          amount_minor: 100_000,
          taken_back_minor: open.netMinor,
        },
      },
      {
        data: { ...about, type: 'reversal', amount_minor: 10_000, taken_back_minor: open.netMinor },
      },
    ])
  })

  it('is not written with endpoints that were read more than five seconds earlier', async ({
    deps,
    payment,
  }) => {
    const { clientId } = payment
    // Of all events but those that an endpoint must name.
    await storedEndpoint(deps, { clientId })
    const slow = afterFirst(deps, 'query', () => {
      deps.clock.advance(6)
      return storedEndpoint(deps, { clientId, eventTypes: ['payment.reversed'] })
    })

    await bookRefund(slow, await reread(deps, payment), 10_000)

    const [event] = await reversedEvents(deps, payment)
    expect(event?.firedAt).toBe(deps.now())
    expect(event && (await deliveriesOfEvent(deps, clientId, event.eventId))).toHaveLength(1)
  })
})
