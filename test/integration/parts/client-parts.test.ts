/**
 * Goal: a client with several parts looks to all callers like a client with one part, and loses
 * nothing when it gets more parts. Method: real stores on tables in memory; the client grows while
 * a create is frozen. Expectations are sorted and summed here, from the payments themselves.
 */
import { describe, expect, it } from 'vitest'
import { handler as getStatement } from '../../../functions/admin/get-settlement-statement.ts'
import type { Client } from '../../../shared/client/client.ts'
import { partOf, paymentIdForKey, subjectOfPayment } from '../../../shared/ids.ts'
import { getBalance, readLedger } from '../../../shared/ledger/ledger-store.ts'
import { listPayments } from '../../../shared/payment/list-payments.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { eventKey, ownersOf, paymentKey, referenceKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { growParts, invokeAdmin } from '../../support/operator-actions.ts'
import { entriesIn, storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { aRequest, create, lateAnswer } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { inSteps, settle, settlementsOf, withoutFloor } from '../../support/settlement-builders.ts'
import { memoryDeps, queriesIn, recordTable } from '../../support/test-deps.ts'

/** A client of four parts with payments in all of them. */
async function manyPaidPayments(count: number) {
  const deps = memoryDeps()
  const client = await growParts(deps, await withoutFloor(deps), 4)
  deps.clock.advance(3_600)
  // The payments are paid in order, some in the same millisecond. The first quarter is in part 0;
  // the others are in the parts of their ids.
  const paidPayments = Array.from({ length: count }, (_, at): Payment => {
    const paidAt = addMs(deps.now(), Math.floor(at / 3))
    const payment = succeededPayment(client, {
      paidAt,
      notionalMinor: 10_000 + at,
      externalReference: 'each',
    })
    return at < count / 4
      ? payment
      : { ...payment, part: partOf(payment.paymentId, 4) || undefined }
  })
  const payments = await storePosted(deps, paidPayments)
  expect(new Set(payments.map(({ part }) => part))).toStrictEqual(new Set([undefined, 1, 2, 3]))
  return { deps, client, payments }
}

describe('a client whose payments are in four parts', () => {
  it('lists its payments together, newest first, by any status and page, with the exact total: one query for each part', async () => {
    const { deps, client, payments } = await manyPaidPayments(90)
    const sortKey = ({ createdAt, paymentId }: Payment) => `${createdAt} ${paymentId}`
    const newestFirst = payments
      .toSorted((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1))
      .map(({ paymentId }) => paymentId)
    const { clientId } = client

    for (const status of [undefined, 'succeeded'] as const) {
      for (const page of [1, 2, 9, 10, 1_000_000]) {
        const recorded = recordTable(deps)
        const list = await listPayments(recorded.deps, {
          clientId,
          status,
          page: { page, perPage: 10 },
        })

        expect(list.total).toBe(90)
        const expected = newestFirst.slice((page - 1) * 10, page * 10)
        expect(list.payments.map(({ paymentId }) => paymentId)).toStrictEqual(expected)
        const indexQueries = queriesIn(recorded.calls).filter(({ index }) => index !== undefined)
        if (page === 1) expect(indexQueries).toHaveLength(4)
        // A page past the end asks for the counts, and for no index.
        if (page > 9) expect(indexQueries).toStrictEqual([])
      }
    }
    const failedPayments = await listPayments(deps, {
      clientId,
      status: 'failed',
      page: { page: 1, perPage: 10 },
    })
    expect(failedPayments).toStrictEqual({ payments: [], total: 0 })
  })

  it('has one balance and one settlement, and its statement shows each payment once, in the order of the journal', async () => {
    const { deps, client, payments } = await manyPaidPayments(620)
    const net = payments.reduce((sum, { netMinor }) => sum + netMinor, 0)
    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: net })
    deps.clock.advance(2 * 86_400)

    // The settlement runs in steps, so that its sums are stored many times before the end.
    const small = inSteps(deps, 150, 1, 100)
    for (let run = 0; (await settle(small, client)).settlement === undefined; run++)
      expect(run).toBeLessThan(20)

    const [settlement] = await settlementsOf(deps, client)
    expect(settlement).toMatchObject({ netMinor: net, paymentCount: 620 })
    const shownIds: string[][] = []
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const request = { settlement_id: settlement?.settlementId, ...(cursor && { cursor }) }
      const { body } = await invokeAdmin(getStatement, deps, request)
      const page = body as {
        readonly entries: readonly { payment_id: string }[]
        readonly cursor: string | null
      }
      shownIds.push(page.entries.map(({ payment_id }) => payment_id))
      cursor = page.cursor ?? undefined
    }
    expect(shownIds.map(({ length }) => length)).toStrictEqual([500, 120])
    expect(shownIds.flat()).toStrictEqual(
      (await entriesIn(deps, client)).map(({ paymentId }) => paymentId),
    )
    expect(new Set(shownIds.flat())).toStrictEqual(
      new Set(payments.map(({ paymentId }) => paymentId)),
    )
    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: 0 })
    await expectBalanced(small, client.clientId)
  })
})

/** An Idempotency-Key whose payment is in the given part. */
function keyInPart({ clientId }: Client, part: number, parts: number): string {
  const keys = Array.from({ length: 50 * parts }, (_, at) => `key-${at}`)
  return keys.find((key) => partOf(paymentIdForKey(clientId, key), parts) === part) ?? ''
}

describe('a client that grows', () => {
  it('uses its new parts after a minute, by the hash of the id; the event and the credit are in the part of the payment', async () => {
    const deps = memoryDeps()
    const client = await growParts(deps, await withoutFloor(deps), 4)
    const request = aRequest({ externalReference: 'each' })
    const make = async (count: number, keys: string[] = []) => {
      const madePayments: Payment[] = []
      for (let at = 0; at < count; at++)
        madePayments.push((await create(deps, client, request, keys[at])).payment)
      return madePayments
    }
    deps.clock.set(addMs(deps.now(), 59_999))
    const paymentsBefore = await make(20)
    deps.clock.set(addMs(deps.now(), 1))
    const keyOfEachPart = [0, 1, 2, 3].map((part) => keyInPart(client, part, 4))
    const paymentsAfter = await make(20, keyOfEachPart)

    expect(paymentsBefore.map(({ part }) => part)).toStrictEqual(
      paymentsBefore.map(() => undefined),
    )
    expect(paymentsAfter.map(({ part }) => part ?? 0)).toStrictEqual(
      paymentsAfter.map(({ paymentId }) => partOf(paymentId, 4)),
    )
    expect(new Set(paymentsAfter.map(({ part }) => part)).size).toBe(4)
    for (const { paymentRequestId } of [...paymentsBefore, ...paymentsAfter]) {
      await applyProviderNews(
        deps,
        { providerPaymentId: deps.provider.pay(paymentRequestId) },
        'callback',
      )
    }
    for (const { paymentId, part = 0 } of [...paymentsBefore, ...paymentsAfter]) {
      const owner = ownersOf(client.clientId, 4)[part] ?? ''
      expect(await deps.table.get(referenceKey(owner, 'each', paymentId))).toMatchObject({
        paymentId,
      })
      expect(await deps.table.get(paymentKey(paymentId))).toMatchObject({
        status: 'succeeded',
        owner,
      })
      expect(
        await deps.table.get(eventKey(subjectOfPayment(paymentId), 'payment.succeeded')),
      ).toMatchObject({ owner })
    }
    const { shards } = await readLedger(deps, client.clientId)
    const succeededIn = (counted: typeof shards) =>
      counted.reduce((sum, shard) => sum + shard.countSucceeded, 0)
    expect(succeededIn(shards)).toBe(40)
    const firstPartShards = shards.filter(({ number }) => number < 16)
    expect(succeededIn(firstPartShards)).toBe(
      20 + paymentsAfter.filter(({ part }) => part === undefined).length,
    )
    await expectBalanced(deps, client.clientId)
  })

  it('keeps a payment in the part of its claim when the client grows before a takeover', async () => {
    const deps = memoryDeps()
    const client = await growParts(deps, await withoutFloor(deps), 2)
    deps.clock.advance(61)
    const key = keyInPart(client, 1, 2)
    deps.provider.script('createRequest', async () => ({ kind: 'unknown', reason: 'timeout' }))
    await create(deps, client, aRequest(), key).catch(() => undefined)
    deps.provider.heal('createRequest')
    const answer = lateAnswer(deps)
    const grownClient = await growParts(deps, client, 16)
    deps.clock.advance(120)

    const takeover = create(deps, grownClient, aRequest(), key)
    await expect.poll(() => deps.provider.requests.size).toBe(1)
    answer.resolve()

    expect((await takeover).payment.part).toBe(1)
    expect(await findStoredPayment(deps, paymentIdForKey(client.clientId, key))).toMatchObject({
      part: 1,
    })
    await expectBalanced(deps, client.clientId)
  })
})
