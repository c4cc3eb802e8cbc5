import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import { addMs } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { withRequests } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import {
  aDayLater,
  anOverdueFee,
  aSucceededPayment,
  aTransaction,
  feeOf,
  settle,
  withFloor,
} from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The same table, whose `by-paid` index still shows some payments with fields they no longer have. */
const lateIndex = (deps: TestDeps, rows: Rows): TestDeps =>
  withRequests(deps, {
    ...deps.requests,
    query: async (input) => {
      const page = await deps.requests.query(input)
      if (input.index !== 'by-paid') return page
      return { ...page, items: page.items.map((item) => ({ ...item, ...rows[String(item['id'])] })) }
    },
  })

/** Ids that sort in the order of their first digit: the order of the index within one millisecond. */
const idBeginningWith = (digit: string) => v.parse(PaymentIdSchema, crypto.randomUUID().replace(/^./, digit))

describe('a payment whose fee is still estimated', () => {
  it('ends the window at its own millisecond, and is waited for even by those paid later', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    await aSucceededPayment(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const held = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
    deps.clock.set(addMs(deps.now(), 1))
    await aSucceededPayment(deps, client)
    aDayLater(deps)

    const result = await settle(deps, client)
    const next = await settle(deps, client)

    expect(result).toMatchObject({
      settlements: [{ periodEnd: held.paidAt, paymentCount: 1 }],
      heldSince: held.paidAt,
    })
    expect(next).toMatchObject({ settlements: [], eligibleMinor: 0, heldSince: held.paidAt })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 2 * 95_900, succeeded: 3 })
    await expectBalanced(deps, client.clientId)
  })

  it.each(['0', '7', 'f'])(
    'takes the whole millisecond out of the window, wherever in it the index has it (id %s…)',
    async (digit) => {
      const deps = testDeps()
      const client = await withFloor(deps)
      await aSucceededPayment(deps, client)
      await aSucceededPayment(deps, client)
      deps.clock.set(addMs(deps.now(), 1))
      for (const first of ['1', '8']) {
        await aSucceededPayment(deps, client, { paymentId: idBeginningWith(first), notionalMinor: 50_000 })
      }
      const held = await aSucceededPayment(deps, client, {
        paymentId: idBeginningWith(digit),
        feeStatus: 'estimated',
      })
      aDayLater(deps)

      const first = await settle(deps, client)
      await makeFeeFinal(deps, held, { status: 'actual', feeMinor: minor(4_440) })
      const second = await settle(deps, client)

      expect(first.settlements).toMatchObject([{ grossMinor: 200_000, paymentCount: 2, periodEnd: held.paidAt }])
      expect(second.settlements).toMatchObject([
        { grossMinor: 200_000, providerFeesMinor: 12_440, paymentCount: 3, periodStart: held.paidAt },
      ])
      await expectBalanced(deps, client.clientId)
    },
  )

  it('takes out one of its millisecond whose fee was made final in the same run', async () => {
    const { deps, client, payment } = await anOverdueFee()
    const last = await aSucceededPayment(deps, client, {
      paymentId: v.parse(PaymentIdSchema, 'ffffffff'.concat(crypto.randomUUID().slice(8))),
      paidAt: payment.paidAt,
      feeStatus: 'estimated',
    })
    deps.provider.script('listTransactions', async ({ providerPaymentId }) =>
      providerPaymentId === last.creditedProviderPaymentId
        ? { kind: 'unanswered', reason: 'unreachable' }
        : { kind: 'found', value: { transactions: [aTransaction(payment, { keptMinor: 4_440 })], hasMore: false } },
    )

    expect(await settle(deps, client)).toMatchObject({ settlements: [], eligibleMinor: 0, heldSince: last.paidAt })

    expect(await feeOf(deps, payment)).toStrictEqual([4_440, 95_460, 'actual'])
    deps.provider.heal('listTransactions')
    deps.provider.transactions.push(aTransaction(last))
    expect((await settle(deps, client)).settlements).toMatchObject([{ providerFeesMinor: 8_440, paymentCount: 2 }])
    await expectBalanced(deps, client.clientId)
  })

  it('is not asked about before seven days are over, and asked about once when they are', async () => {
    const { deps, client, payment } = await anOverdueFee()
    deps.provider.transactions.push(aTransaction(payment))
    deps.clock.set(addMs(deps.now(), -1))

    expect((await settle(deps, client)).settlements).toStrictEqual([])
    expect(deps.provider.calls).toStrictEqual([])
    deps.clock.set(addMs(deps.now(), 1))
    expect((await settle(deps, client)).settlements).toHaveLength(1)

    expect(deps.provider.calls).toStrictEqual([
      { operation: 'listTransactions', id: payment.creditedProviderPaymentId },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it('is delayed by an index that is late with its fee, and never summed with the old one', async () => {
    const { deps, client, payment } = await anOverdueFee()
    const late = lateIndex(deps, { [payment.paymentId]: { feeStatus: 'estimated', providerFeeMinor: 4_000 } })
    await makeFeeFinal(deps, payment, { status: 'actual', feeMinor: minor(4_440) })

    deps.clock.set(addMs(deps.now(), -1))
    expect((await settle(late, client)).settlements).toStrictEqual([])
    deps.clock.set(addMs(deps.now(), 1))
    expect((await settle(late, client)).settlements).toMatchObject([{ providerFeesMinor: 4_440, netMinor: 95_460 }])

    expect(deps.provider.calls).toStrictEqual([])
    await expectBalanced(deps, client.clientId)
  })
})
