import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { type PaymentId, PaymentIdSchema, slotOf } from '../../../shared/ids.ts'
import { raiseFence } from '../../../shared/ledger/raise-fence.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { type Posting, postPayments } from '../../../shared/posting/post-payments.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { beforeFirst, interceptTable, recordTable } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { anOpenPayment, post, settledRowFor, storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import { aDayLater, sweep } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { aRefund } from './provider-rows.ts'

const SHARDS = 16

/** Ids of so many payments that share a ledger shard. */
const idsOfOneShard = (count: number): readonly PaymentId[] => {
  const ids: PaymentId[] = []
  while (ids.length < count) {
    const id = v.parse(PaymentIdSchema, crypto.randomUUID())
    if (slotOf(id, SHARDS) === 7) ids.push(id)
  }
  return ids
}

const openOfOneShard = async (deps: TestDeps, client: Parameters<typeof succeededPayment>[0], count: number) => {
  const open = idsOfOneShard(count).map((paymentId) => succeededPayment(client, { paymentId, paidAt: deps.now() }))
  await storeOpen(deps, open)
  return open
}

const byRow = (payment: Payment): Posting => ({ payment, by: { row: settledRowFor(payment) } })

const transactionsIn = (calls: ReturnType<typeof recordTable>['calls']) =>
  calls.flatMap((call) => (call.name === 'transact' ? [call.steps.length] : []))

describe('postPayments (design section 12)', () => {
  it('writes the final price, the entry and the difference of net, together', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)
    deps.clock.advance(3_600)

    const posted = await post(deps, open, { feeMinor: 4_440 })

    const { openAt: _, ...rest } = open
    expect(await findStoredPayment(deps, open.paymentId)).toEqual({
      ...rest,
      providerFeeMinor: 4_440,
      netMinor: 95_460,
      feeStatus: 'actual',
      finalFee: { status: 'actual', feeMinor: 4_440, at: deps.now() },
      providerSettledAt: open.paidAt,
      postedAt: deps.now(),
      ownRow: { transactionId: `txn_${open.paymentId}`, providerMinor: 95_560 },
      moneyVersion: 1,
    })
    expect(posted).toMatchObject({ netMinor: 95_460, postedAt: deps.now() })
    expect(await entriesIn(deps, client)).toEqual([
      {
        entryId: expect.any(String),
        type: 'payment',
        eligibleAt: addMs(open.paidAt ?? deps.now(), DAY_MS),
        postedAt: deps.now(),
        grossMinor: 100_000,
        feeMinor: 4_440,
        markupMinor: 100,
        netMinor: 95_460,
        providerMinor: 95_560,
        bankMinor: 0,
        suspenseMinor: 0,
        houseMinor: 100,
        paymentId: open.paymentId,
        providerTransactionId: `txn_${open.paymentId}`,
        providerSettledAt: open.paidAt,
        method: 'virtual_account',
        channelCode: 'BCA',
        paidAt: open.paidAt,
      },
    ])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })

  it('is eligible when it is posted, where that is later than a day after it was paid', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)
    deps.clock.advance(3 * 86_400)

    await post(deps, open)

    expect(await entriesIn(deps, client)).toMatchObject([{ eligibleAt: deps.now(), postedAt: deps.now() }])
  })

  it('posts a payment once, by the first of two rows', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)

    await post(deps, open)

    expect(await postPayments(deps, [byRow(open)])).toStrictEqual([undefined])
    expect(await entriesIn(deps, client)).toHaveLength(1)
  })

  it('lets one of two racers through', { repeats: 9 }, async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)

    const answers = await Promise.all([1, 2, 3].map(() => postPayments(deps, [byRow(open)])))

    expect(answers.flat().filter((payment) => payment !== undefined)).toHaveLength(1)
    expect(await entriesIn(deps, client)).toHaveLength(1)
  })

  it('is refused when money moved since it was read, and posts what moved when it reads again', async ({
    deps,
    client,
  }) => {
    const open = await anOpenPayment(deps, client)
    const raced = beforeFirst(deps, 'transact', () => movePayment(deps, open, aRefund(deps, 30_000)))

    expect(await postPayments(raced, [byRow(open)])).toStrictEqual([undefined])
    expect(await entriesIn(deps, client)).toStrictEqual([])
    const stored = (await findStoredPayment(deps, open.paymentId)) as Payment
    await post(deps, stored)

    expect((await entriesIn(deps, client)).map(({ type, netMinor }) => [type, netMinor])).toEqual(
      expect.arrayContaining([
        ['payment', 95_900],
        ['refund', -30_000],
      ]),
    )
  })

  it('posts a payment that a page names twice once', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)
    const [first, second] = [byRow(open), byRow(open)]

    const answers = await postPayments(deps, [first, second])

    expect(answers.map((payment) => payment?.postedAt)).toStrictEqual([deps.now(), undefined])
    expect(await entriesIn(deps, client)).toHaveLength(1)
  })
})

describe('payments of one page', () => {
  it('share a transaction where they share a shard, 45 at most', async ({ deps, client }) => {
    const open = await openOfOneShard(deps, client, 46)
    const { deps: recorded, calls } = recordTable(deps)

    const answers = await postPayments(recorded, open.map(byRow))

    expect(answers.map((payment) => payment?.paymentId)).toStrictEqual(open.map(({ paymentId }) => paymentId))
    expect(transactionsIn(calls).toSorted((a, b) => a - b)).toStrictEqual([3, 91])
  })

  it('stay within the hundred items of a transaction, with what went back of them', async ({ deps, client }) => {
    const open = await openOfOneShard(deps, client, 5)
    const moved: Payment[] = []
    for (const payment of open) {
      for (let at = 0; at < 30; at++) await movePayment(deps, payment, aRefund(deps, 10, `${payment.paymentId}-${at}`))
      moved.push((await findStoredPayment(deps, payment.paymentId)) as Payment)
    }
    const { deps: recorded, calls } = recordTable(deps)

    await postPayments(recorded, moved.map(byRow))

    // Of three payments 97 items: the shard, and of each the payment, its entry and 30 of refunds.
    expect(transactionsIn(calls).toSorted((a, b) => a - b)).toStrictEqual([65, 97])
    expect(await entriesIn(deps, client)).toHaveLength(155)
  })

  it('hold up none of the others: one that has changed is refused alone', async ({ deps, client }) => {
    const open = await openOfOneShard(deps, client, 5)
    const [changed] = open
    if (changed) await movePayment(deps, changed, aRefund(deps, 30_000))

    const answers = await postPayments(deps, open.map(byRow))

    expect(answers.map((payment) => payment !== undefined)).toStrictEqual([false, true, true, true, true])
    expect(await entriesIn(deps, client)).toHaveLength(4)
  })

  it('of several clients and shards are posted side by side', async ({ deps, client }) => {
    const open = Array.from({ length: 40 }, () => succeededPayment(client, { paidAt: deps.now() }))
    await storeOpen(deps, open)
    const { deps: recorded, calls } = recordTable(deps)

    await postPayments(recorded, open.map(byRow))

    const shards = new Set(open.map(({ paymentId }) => slotOf(paymentId, SHARDS)))
    expect(transactionsIn(calls)).toHaveLength(shards.size)
  })
})

describe('posting at the fence (design section 12)', () => {
  it('is refused in a closed window, and posted after it', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)
    deps.clock.advance(2 * 86_400)
    const end = addMs(deps.now(), 10_000)
    await raiseFence(deps, client.clientId, end)
    const { deps: recorded, calls } = recordTable(deps)

    const posted = await post(recorded, open)

    expect(posted.postedAt).toBe(end)
    expect(transactionsIn(calls)).toHaveLength(2)
    expect(await entriesIn(deps, client)).toMatchObject([{ postedAt: end, eligibleAt: end }])
    expect(await findStoredPayment(deps, open.paymentId)).toMatchObject({ finalFee: { at: end } })
  })

  it('by a process that stood still while a settlement swept lands after it', async ({ deps, client }) => {
    const [frozen, other] = [await anOpenPayment(deps, client), await anOpenPayment(deps, client)]
    await post(deps, other)
    aDayLater(deps)
    const thawed = beforeFirst(deps, 'transact', async () => {
      await sweep(deps, client)
    })

    const { postedAt = '' } = await post({ ...thawed, now: () => addMs(deps.now(), -3_000) }, frozen)

    const [settlement] = [await sweep({ ...deps, now: () => addMs(deps.now(), 60_000) }, client)]
    expect(postedAt >= (settlement?.sweptFrom ?? '')).toBe(true)
    expect(settlement).toMatchObject({ paymentCount: 1 })
  })

  it('gives up, to be asked again, where the fence is raised before each try', async ({ deps, client }) => {
    const open = await anOpenPayment(deps, client)
    const raised = interceptTable(deps, {
      before: async ({ name }) => {
        if (name === 'transact') await raiseFence(deps, client.clientId, addMs(deps.now(), 60_000))
      },
    })

    await expect(post(raised, open)).rejects.toThrow('kept being closed')

    expect(await deps.table.get(paymentKey(open.paymentId))).toHaveProperty('openAt')
    await post(deps, open)
  })
})
