import { describe, expect } from 'vitest'
import { RETENTION, reversedEventName } from '../../../shared/event/event.ts'
import { listEventsOf } from '../../../shared/event/read-events.ts'
import { deliveryIdFor, eventIdFor, subjectOfPayment } from '../../../shared/ids.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { attemptKey, deliveryKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { addMs, expiresAfter, type Timestamp } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { startRound } from '../../../shared/webhook/delivery/round-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  claimAttempt,
  skipDelivery,
  storeAttemptResult,
} from '../../../shared/webhook/send/attempt-store.ts'
import { aPendingPayment, aStoredClient, eventsOf } from '../../support/payment-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import { changeRow } from '../../support/tampering.ts'
import { memoryDeps, recordTable, type TestDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  attemptOf,
  attemptRows,
  dueDelivery,
  ENDED,
  listedDelivery,
  rowOf,
  SKIPPED,
  sentFor,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

function claimOf(deps: TestDeps) {
  return { token: 'mine', until: addMs(deps.now(), 30_000) }
}

const WRITES = {
  claimAttempt: async (deps: TestDeps, read: Delivery) =>
    (await claimAttempt(deps, read, claimOf(deps))) !== undefined,
  skipDelivery,
  startRound: async (deps: TestDeps, read: Delivery) => {
    const endedDelivery = { ...read, status: 'abandoned', attempts: 8 } as const
    return (await deps.table.transact({ delivery: startRound(endedDelivery, deps.now()) })).applied
  },
}

/** A delivery whose only attempt succeeded: no list finds the delivery by its status. */
const DONE_AT_ONCE = { ...ENDED, status: 'succeeded', unlisted: true } as const
const ANOTHER_TIME = { nextAttemptAt: '2026-11-20T04:00:00.001Z' as Timestamp }
const CLAIMED = { claimToken: 'theirs', claimedUntil: '2026-11-01T00:00:00.000Z' as Timestamp }

describe('a write that depends on an earlier read', () => {
  it.for<readonly [keyof typeof WRITES, what: string, Partial<Delivery>]>([
    ['claimAttempt', 'has been skipped', SKIPPED],
    ['claimAttempt', 'has succeeded at once', DONE_AT_ONCE],
    ['claimAttempt', 'has made that attempt', { attempts: 1 }],
    ['claimAttempt', 'is due at another time', ANOTHER_TIME],
    ['claimAttempt', 'is claimed, however long ago', CLAIMED],
    ['skipDelivery', 'has succeeded', { ...DONE_AT_ONCE, unlisted: undefined }],
    ['skipDelivery', 'has succeeded at once', DONE_AT_ONCE],
    ['skipDelivery', 'is at a later attempt', { attempts: 1 }],
    ['skipDelivery', 'is claimed', CLAIMED],
    ['skipDelivery', 'is in a later round, after a skipped round', ANOTHER_TIME],
    ['startRound', 'is in another round', { ...ABANDONED, status: 'scheduled' }],
    ['startRound', 'has been through another round', { ...ABANDONED, attempts: 16 }],
    ['startRound', 'has succeeded', { ...DONE_AT_ONCE, attempts: 8 }],
  ])('by %s is refused when the row %s', async ([write, , difference]) => {
    const { deps, delivery } = await dueDelivery(difference)

    const now = deps.now()
    const read = {
      ...delivery,
      status: 'scheduled',
      attempts: 0,
      nextAttemptAt: now,
      dueAt: now,
    } as const
    expect(await WRITES[write](deps, read)).toBe(false)

    expect(await rowOf(deps, delivery)).toEqual(delivery)
  })
})

it('claimAttempt recognises its own claim after a lost answer and a retry of the SDK', async ({
  deps,
  delivery,
}) => {
  const claim = claimOf(deps)
  await claimAttempt(deps, delivery, claim)

  const claimedRow = { ...delivery, claimToken: 'mine', claimedUntil: claim.until }
  expect(await claimAttempt(deps, delivery, claim)).toStrictEqual(claimedRow)
})

describe('storeAttemptResult', () => {
  const claimedDelivery = async (overrides: Partial<Delivery> = {}) => {
    const { deps, delivery } = await dueDelivery(overrides)
    const claimed = await claimAttempt(deps, delivery, claimOf(deps))
    if (!claimed) throw new Error('not claimed')
    const store = (change: Partial<Delivery> = {}, number = 1) =>
      storeAttemptResult(deps, { ...claimed, ...change }, attemptOf(deps, number), {
        status: 'succeeded',
      })
    return { deps, claimed, store }
  }

  it.for([
    ['another worker holds the claim', { claimToken: 'theirs' }, 1],
    ['an earlier attempt was never recorded', {}, 2],
  ] as const)('writes nothing when %s', async ([, change, number]) => {
    const { deps, claimed, store } = await claimedDelivery()

    expect(await store(change, number)).toBe(false)

    expect(await rowOf(deps, claimed)).toStrictEqual(claimed)
    expect(await attemptRows(deps, claimed)).toStrictEqual([])
  })

  it('refuses an unclaimed delivery, and recognises its own success after a lost answer', async () => {
    const { store } = await claimedDelivery()

    await expect(store({ claimToken: undefined })).rejects.toThrow('claim')
    expect([await store(), await store()]).toStrictEqual([true, true])
  })

  it('replaces an attempt of an expired delivery, which the table may still hold', async () => {
    const { deps, claimed, store } = await claimedDelivery({ unlisted: undefined })
    await deps.table.write(
      put(attemptKey(claimed.deliveryId, 1), attemptOf(deps, 1, { responseBody: 'old' })),
    )

    expect(await store()).toBe(true)

    expect(await attemptRows(deps, claimed)).toStrictEqual([attemptOf(deps, 1)])
  })
})

it('a delivery that succeeds after a failure leaves the list of its status', async ({
  deps,
  delivery,
}) => {
  const key = deliveryKey(delivery.deliveryId)
  await changeRow(deps, key, {
    set: { status: 'scheduled', claimToken: 'token' },
    remove: ['state'],
  })
  const claimed = { ...listedDelivery(delivery), claimToken: 'token' }

  await storeAttemptResult(deps, claimed, attemptOf(deps, 1), { status: 'succeeded' })

  const row = await deps.table.get(key)
  expect(row).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(row).not.toHaveProperty('status')
})

async function aPaidPaymentWith(...endpoints: readonly Partial<Endpoint>[]) {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  const storedEndpoints: Endpoint[] = []
  for (const endpoint of endpoints)
    storedEndpoints.push(await storedEndpoint(deps, { clientId: client.clientId, ...endpoint }))
  const payment = await aPendingPayment(deps, client)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  const eventId = eventIdFor(subjectOfPayment(payment.paymentId), 'payment.succeeded')
  return {
    deps,
    payment,
    eventId,
    notify: (notifyDeps: TestDeps = deps) => notifyOf(notifyDeps, providerPaymentId),
    deliveries: () =>
      Promise.all(
        storedEndpoints.map(({ endpointId }) =>
          findDelivery(deps, deliveryIdFor(eventId, endpointId)),
        ),
      ),
    events: () => eventsOf(deps, payment),
  }
}

describe('the announcement of a payment (design section 4, Announce)', () => {
  it('writes an event and a delivery, due at once, in the transaction that credits the payment; a disabled endpoint’s delivery is skipped', async () => {
    const { deps, payment, eventId, notify, deliveries, events } = await aPaidPaymentWith(
      {},
      { enabled: false },
    )
    const recorded = recordTable(deps)

    await notify(recorded.deps)

    const [delivery, skippedDelivery] = await deliveries()
    const { paymentId, clientId } = payment
    const now = deps.now()
    const skippedKey = deliveryKey(skippedDelivery?.deliveryId as never)
    const ttl = expiresAfter(now, RETENTION.deliveryMs)
    expect(await deps.table.get(skippedKey)).toMatchObject({ status: 'skipped', ttl })
    const ids = {
      deliveryId: delivery?.deliveryId,
      eventId,
      subject: subjectOfPayment(paymentId),
      clientId,
      endpointId: delivery?.endpointId,
    }
    const post = { eventName: 'payment.succeeded', url: 'https://merchant.example/hooks' }
    const state = { status: 'scheduled', attempts: 0, roundStart: 0, resends: 0, unlisted: true }
    const times = { createdAt: now, firedAt: now, nextAttemptAt: now, dueAt: addMs(now, 60_000) }
    expect(delivery).toStrictEqual({ ...ids, ...post, ...state, ...times })
    expect(await events()).toMatchObject([{ eventId, firedAt: deps.now() }])
    expect(
      recorded.calls.filter(({ name }) => ['put', 'update', 'transact'].includes(name)),
    ).toHaveLength(1)
    expect(deps.sent).toStrictEqual([sentFor(delivery as Delivery)])
  })

  it.each([
    [
      'writes no event of a payment that was cancelled',
      { status: 'cancelled', source: 'cancel' },
      [],
    ],
    [
      'tells why a payment failed',
      { status: 'failed', source: 'callback', failureReason: 'declined' },
      ['declined'],
    ],
  ] as const)('%s', async (_case, end, reasons) => {
    const { deps, payment, events } = await aPaidPaymentWith({})

    await closePayment(deps, payment, end)

    const sent = (await events()).map((event) => JSON.parse(event?.body ?? '{}'))
    expect(sent).toMatchObject(
      reasons.map((failure_reason) => ({ event: 'payment.failed', data: { failure_reason } })),
    )
    expect(deps.sent).toHaveLength(reasons.length)
  })

  it('is read whole when the events of a payment exceed the megabyte of one query', async () => {
    const deps = memoryDeps()
    const large = { body: 'x'.repeat(25_000) }
    const { subject } = await storedEvent(deps, large)
    for (let movement = 1; movement <= 50; movement++) {
      const name = reversedEventName({ transactionId: `txn-${movement}`, type: 'REFUND' })
      await storedEvent(deps, { ...large, subject, name, type: 'payment.reversed' })
    }

    expect(await listEventsOf(deps, subject)).toHaveLength(51)
  })
})

it('a delivery is of the endpoint that its index names, whatever else its row says', async () => {
  const { deps, delivery } = await dueDelivery()
  const { deliveryId, endpointId, createdAt } = delivery
  const set = { endpointId: 'we_other', deliveryId: 'whd_other', createdAt: '2020-01-01' }
  await changeRow(deps, deliveryKey(deliveryId), { set })

  const found = await findDelivery(deps, deliveryId)

  expect(found).toMatchObject({ deliveryId, endpointId, createdAt })
})
