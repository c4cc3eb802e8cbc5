/**
 * Goal: a client that grows in the midst of anything loses nothing. Method: real stores on tables in memory; it grows
 * while a create is frozen, a window is half summed, an audit reads, and creators still have it as it was.
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

/** An Idempotency-Key whose payment is in that one of so many parts. */
const keyInPart = ({ clientId }: Client, part: number, parts: number): string => {
  const keys = Array.from({ length: 50 * parts }, (_, at) => `key-${at}`)
  return keys.find((key) => partOf(paymentIdForKey(clientId, key), parts) === part) ?? ''
}

describe('a client that grows', () => {
  it('uses no new part for a minute, and one by the hash of the id from then on, which all that follows keeps', async () => {
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

  it('has no row that a list, a settlement or an audit which began before misses, whenever it was read', async () => {
    const deps = memoryDeps()
    const old = await withFloor(deps)
    const client = await grown(deps, old, 16)
    deps.clock.advance(61)

    // Read before it grew, as a warm environment has it for fifteen seconds, or one that was frozen for longer.
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

  it('while a create is frozen after its claim: the payment stays where it was claimed, also when it is taken over or paid unheard', async () => {
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
