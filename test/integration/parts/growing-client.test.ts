/**
 * Goal: a client loses nothing when it gets more parts. Method: real stores on tables in memory; the client grows
 * while a create is frozen, and while callers still have the client from before.
 */
import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { partOf, paymentIdForKey } from '../../../shared/ids.ts'
import { readLedger } from '../../../shared/ledger/ledger-store.ts'
import { listPayments } from '../../../shared/payment/list-payments.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { eventKey, ownersOf, paymentKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aRequest, create, lateAnswer } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { withFloor } from '../../support/settlement-builders.ts'
import { grown } from './grown-client.ts'

/** An Idempotency-Key whose payment is in the given part. */
const keyInPart = ({ clientId }: Client, part: number, parts: number): string => {
  const keys = Array.from({ length: 50 * parts }, (_, at) => `key-${at}`)
  return keys.find((key) => partOf(paymentIdForKey(clientId, key), parts) === part) ?? ''
}

describe('a client that grows', () => {
  it('uses its new parts after a minute, by the hash of the id; the event and the credit are in the part of the payment', async () => {
    const deps = memoryDeps()
    const client = await grown(deps, await withFloor(deps), 4)
    const make = async (count: number, keys: string[] = []) => {
      const made: Payment[] = []
      for (let at = 0; at < count; at++) made.push((await create(deps, client, aRequest(), keys[at])).payment)
      return made
    }
    deps.clock.set(addMs(deps.now(), 59_999))
    const before = await make(20)
    deps.clock.set(addMs(deps.now(), 1))
    const ofEachPart = [0, 1, 2, 3].map((part) => keyInPart(client, part, 4))
    const after = await make(20, ofEachPart)

    expect(before.map(({ part }) => part)).toStrictEqual(before.map(() => undefined))
    expect(after.map(({ part }) => part ?? 0)).toStrictEqual(after.map(({ paymentId }) => partOf(paymentId, 4)))
    expect(new Set(after.map(({ part }) => part)).size).toBe(4)
    for (const { paymentRequestId } of [...before, ...after]) {
      await applyProviderNews(deps, { providerPaymentId: deps.provider.pay(paymentRequestId) }, 'callback')
    }
    for (const { paymentId, part = 0 } of [...before, ...after]) {
      const owner = ownersOf(client.clientId, 4)[part]
      expect(await deps.table.get(paymentKey(paymentId))).toMatchObject({ status: 'succeeded', owner })
      expect(await deps.table.get(eventKey(paymentId, 'payment.succeeded'))).toMatchObject({ owner })
    }
    const perPart = Map.groupBy((await readLedger(deps, client.clientId)).shards, ({ number }) =>
      Math.floor(number / 16),
    )
    const counted = [...perPart.values()].map((shards) => shards.reduce((sum, shard) => sum + shard.countSucceeded, 0))
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(40)
    expect(counted[0]).toBe(20 + after.filter(({ part }) => part === undefined).length)
    await expectBalanced(deps, client.clientId)
  })

  it('lists every payment, of callers that read the client before it grew and after', async () => {
    const deps = memoryDeps()
    const old = await withFloor(deps)
    const client = await grown(deps, old, 16)
    deps.clock.advance(61)

    // A warm environment keeps a client for fifteen seconds; one that was frozen keeps it for longer.
    const stale = await Promise.all(Array.from({ length: 8 }, () => create(deps, old)))
    const fresh = await Promise.all(Array.from({ length: 8 }, () => create(deps, client)))

    expect(stale.map(({ payment }) => payment.part)).toStrictEqual(stale.map(() => undefined))
    expect(fresh.some(({ payment }) => payment.part !== undefined)).toBe(true)
    const { total, payments } = await listPayments(deps, {
      clientId: old.clientId,
      status: 'pending',
      page: { page: 1, perPage: 100 },
    })
    expect([total, payments.length]).toStrictEqual([16, 16])
  })

  it('keeps a payment in the part of its claim when the client grows before a takeover', async () => {
    const deps = memoryDeps()
    const client = await grown(deps, await withFloor(deps), 2)
    deps.clock.advance(61)
    const key = keyInPart(client, 1, 2)
    deps.provider.script('createRequest', async () => ({ kind: 'unknown', reason: 'timeout' }))
    await create(deps, client, aRequest(), key).catch(() => undefined)
    deps.provider.heal('createRequest')
    const answer = lateAnswer(deps)
    const wide = await grown(deps, client, 16)
    deps.clock.advance(120)

    const taken = create(deps, wide, aRequest(), key)
    await expect.poll(() => deps.provider.requests.size).toBe(1)
    answer.resolve()

    expect((await taken).payment.part).toBe(1)
    expect(await findStoredPayment(deps, paymentIdForKey(client.clientId, key))).toMatchObject({ part: 1 })
    await expectBalanced(deps, client.clientId)
  })
})
