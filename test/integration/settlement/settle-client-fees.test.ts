import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs, DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import { withRequests } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aDayLater, aSucceededPayment, aTransaction, feeOf, settle } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from './client-test.ts'

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The same table, whose `by-owner-paid` index still shows some payments with fields they no longer have. */
const lateIndex = (deps: TestDeps, rows: Rows): TestDeps =>
  withRequests(deps, {
    ...deps.requests,
    query: async (input) => {
      const page = await deps.requests.query(input)
      if (input.index !== 'by-owner-paid') return page
      return { ...page, items: page.items.map((item) => ({ ...item, ...rows[String(item['id'])] })) }
    },
  })

/** Ids that sort in the order of their first digit: the order of the index within one millisecond. */
const idBeginningWith = (digit: string) => v.parse(PaymentIdSchema, crypto.randomUUID().replace(/^./, digit))

/** With one payment whose fee has been estimated for so long that it is asked for now. */
const it = clientTest.extend('overdue', async ({ deps, client }) => {
  const payment = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
  deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
  return payment
})

describe('a payment whose fee is still estimated', () => {
  it('ends the window at its own millisecond, and is waited for even by those paid later', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const { paidAt } = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
    deps.clock.set(addMs(deps.now(), 1))
    await aSucceededPayment(deps, client)
    aDayLater(deps)

    const result = await settle(deps, client)
    const next = await settle(deps, client)

    expect(result).toMatchObject({ settlements: [{ periodEnd: paidAt, paymentCount: 1 }], heldSince: paidAt })
    expect(next).toMatchObject({ settlements: [], eligibleMinor: 0, heldSince: paidAt })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 2 * 95_900, succeeded: 3 })
  })

  it.for(['0', '7', 'f'])(
    'takes the whole millisecond out of the window, wherever in it the index has it (id %s…)',
    async (digit, { deps, client }) => {
      await aSucceededPayment(deps, client)
      await aSucceededPayment(deps, client)
      deps.clock.set(addMs(deps.now(), 1))
      for (const first of ['1', '8']) {
        await aSucceededPayment(deps, client, { paymentId: idBeginningWith(first), notionalMinor: 50_000 })
      }
      const held = await aSucceededPayment(deps, client, { paymentId: idBeginningWith(digit), feeStatus: 'estimated' })
      aDayLater(deps)

      const first = await settle(deps, client)
      await makeFeeFinal(deps, held, { status: 'actual', feeMinor: minor(4_440) })
      const second = await settle(deps, client)

      expect(first.settlements).toMatchObject([{ grossMinor: 200_000, paymentCount: 2, periodEnd: held.paidAt }])
      expect(second.settlements).toMatchObject([
        { grossMinor: 200_000, providerFeesMinor: 12_440, paymentCount: 3, periodStart: held.paidAt },
      ])
    },
  )

  it('takes out one of its millisecond whose fee was made final in the same run', async ({ deps, client, overdue }) => {
    const { paidAt } = overdue
    const last = await aSucceededPayment(deps, client, {
      paymentId: v.parse(PaymentIdSchema, 'ffffffff'.concat(crypto.randomUUID().slice(8))),
      feeStatus: 'estimated',
      ...(paidAt && { paidAt }),
    })
    deps.provider.transactions.push(aTransaction(overdue, { keptMinor: 4_440 }), aTransaction(last))
    deps.provider.script('listTransactions', async (filter, timeoutMs) =>
      filter.providerPaymentId === last.creditedProviderPaymentId
        ? { kind: 'unanswered', reason: 'unreachable' }
        : deps.provider.healthy.listTransactions(filter, timeoutMs),
    )

    expect(await settle(deps, client)).toMatchObject({ settlements: [], eligibleMinor: 0, heldSince: paidAt })

    expect(await feeOf(deps, overdue)).toStrictEqual([4_440, 95_460, 'actual'])
    deps.provider.heal('listTransactions')
    expect((await settle(deps, client)).settlements).toMatchObject([{ providerFeesMinor: 8_440, paymentCount: 2 }])
  })

  it('is asked about once, when seven days are over and not before', async ({ deps, client, overdue }) => {
    deps.provider.transactions.push(aTransaction(overdue))
    deps.clock.set(addMs(deps.now(), -1))

    expect((await settle(deps, client)).settlements).toStrictEqual([])
    expect(deps.provider.calls).toStrictEqual([])
    deps.clock.set(addMs(deps.now(), 1))
    expect((await settle(deps, client)).settlements).toHaveLength(1)

    const id = overdue.creditedProviderPaymentId
    expect(deps.provider.calls).toStrictEqual([{ operation: 'listTransactions', id }])
  })

  it('is delayed by an index late with its fee, never summed with the old one', async ({ deps, client, overdue }) => {
    const late = lateIndex(deps, { [overdue.paymentId]: { feeStatus: 'estimated', providerFeeMinor: 4_000 } })
    await makeFeeFinal(deps, overdue, { status: 'actual', feeMinor: minor(4_440) })

    deps.clock.set(addMs(deps.now(), -1))
    expect((await settle(late, client)).settlements).toStrictEqual([])
    deps.clock.set(addMs(deps.now(), 1))
    expect((await settle(late, client)).settlements).toMatchObject([{ providerFeesMinor: 4_440, netMinor: 95_460 }])

    expect(deps.provider.calls).toStrictEqual([])
  })
})

describe('a fee that is asked for once more after seven days (design section 4, "Sweep and settle")', () => {
  it.for([
    ['knows it, and pending moves by the difference before it is settled', 3_000],
    ['kept nothing, and is not billed at the tariff', 0],
  ] as const)('becomes actual when the provider %s', async ([, fee], { deps, client, overdue }) => {
    await aSucceededPayment(deps, client)
    deps.provider.transactions.push(aTransaction(overdue, { keptMinor: fee }))

    const { settlements } = await settle(deps, client)

    expect(settlements).toMatchObject([{ providerFeesMinor: fee, netMinor: 99_900 - fee, paymentCount: 1 }])
    expect(await feeOf(deps, overdue)).toStrictEqual([fee, 99_900 - fee, 'actual'])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 2 })
    expect(deps.published).toStrictEqual([])
  })

  it.for(['unreachable', 'server_error', 'rate_limited', 'misconfigured'] as const)(
    'stays estimated while the provider gives no answer (%s), and is asked for again by the next run',
    async (reason, { deps, client, overdue }) => {
      deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason }))

      expect(await settle(deps, client)).toMatchObject({ settlements: [], heldSince: overdue.paidAt })
      expect(await feeOf(deps, overdue)).toStrictEqual([4_000, 95_900, 'estimated'])
      deps.provider.heal('listTransactions')
      deps.provider.transactions.push(aTransaction(overdue))
      expect((await settle(deps, client)).settlements).toHaveLength(1)

      expect(deps.published).toStrictEqual([])
    },
  )

  it.for([
    ['another fee', [4_440]],
    ['that it knows nothing', []],
  ] as const)(
    'is read again when it became actual while the provider said %s',
    async ([, kept], { deps, client, overdue }) => {
      deps.provider.script('listTransactions', async () => {
        await makeFeeFinal(deps, overdue, { status: 'actual', feeMinor: minor(4_100) })
        const transactions = kept.map((keptMinor) => aTransaction(overdue, { keptMinor }))
        return { kind: 'found', value: { transactions, hasMore: false } }
      })

      const { settlements } = await settle(deps, client)

      expect(settlements).toMatchObject([{ providerFeesMinor: 4_100, netMinor: 95_800 }])
      expect(await feeOf(deps, overdue)).toStrictEqual([4_100, 95_800, 'actual'])
      expect(deps.published).toStrictEqual([])
      expect(await findSuspense(deps, `${overdue.paymentId}#transaction_missing`)).toBeUndefined()
    },
  )

  it('is left to the next run by one that has asked for minutes', async ({ deps, client }) => {
    const payments: Payment[] = []
    for (let at = 0; at < 5; at++) {
      payments.push(await aSucceededPayment(deps, client, { feeStatus: 'estimated' }))
      deps.clock.set(addMs(deps.now(), 1))
    }
    deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
    deps.provider.transactions.push(...payments.map((payment) => aTransaction(payment)))
    deps.provider.script('listTransactions', async (filter, timeoutMs) => {
      await deps.sleep(100 * SECOND_MS)
      return deps.provider.healthy.listTransactions(filter, timeoutMs)
    })

    const runs = [await settle(deps, client), await settle(deps, client), await settle(deps, client)]

    expect(runs).toMatchObject([
      { settlements: [], summedUntil: payments[2]?.paidAt },
      { settlements: [], summedUntil: payments[4]?.paidAt },
      { settlements: [{ paymentCount: 5 }], heldSince: undefined },
    ])
    const { clientId: client_id, clientId: group } = client
    const handedOn = { queue: 'settlements', message: { body: { client_id }, delaySeconds: 0, group } }
    expect(deps.sent).toStrictEqual([handedOn, handedOn])
  })
})
