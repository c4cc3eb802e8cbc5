import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { markSettlementPaid } from '../../../shared/settlement/close-settlement.ts'
import { addFunding, noFunding } from '../../../shared/settlement/funding.ts'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-statement.ts'
import { addMs } from '../../../shared/time.ts'
import { beforeFirst, queriesIn, recordTable } from '../../support/intercept-table.ts'
import { aDayLater, inSteps, storeSucceeded, succeededPayment, sweptNow } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

describe('what the provider has paid of a settlement', () => {
  const statement = (deps: TestDeps, settlementId: string) =>
    settlementStatement(deps, { settlementId, cursor: undefined, format: 'json' })
  const markPaid = (deps: TestDeps, settlementId: string) =>
    markSettlementPaid(deps, { settlementId, operator: 'ayu', notes: undefined, confirmUnfunded: false })

  /** 60 payments a millisecond apart, of which the provider has paid none or all. */
  const sixty = async (deps: TestDeps, client: Client, isPaid: boolean) => {
    const payments = Array.from({ length: 60 }, (_, at) =>
      succeededPayment(client, {
        paidAt: addMs(deps.now(), at),
        ...(isPaid && { providerSettledAt: deps.now() }),
      }),
    )
    await storeSucceeded(deps, payments)
    deps.clock.set(addMs(deps.now(), 60))
    aDayLater(deps)
    return { payments, settlement: await sweptNow(deps, client) }
  }

  it('is read once, and from then on only those that wait', async ({ deps, client }) => {
    const { payments, settlement } = await sixty(deps, client, false)
    for (const payment of payments.slice(1)) await noteProviderSettled(deps, payment, deps.now())
    const { settlementId } = settlement
    const first = await statement(deps, settlementId)
    const { deps: recorded, calls } = recordTable(deps)

    const second = await statement(recorded, settlementId)
    await noteProviderSettled(deps, payments[0] as Payment, deps.now())
    const third = await statement(recorded, settlementId)

    const figures = { provider_settled_minor: 59 * 96_000, provider_unsettled_minor: 96_000 }
    expect([first, second]).toMatchObject([figures, figures])
    expect(third).toMatchObject({ provider_settled_minor: 60 * 96_000, provider_unsettled_minor: 0 })
    // The page itself, each time.
    expect(queriesIn(calls).filter(({ index }) => index === 'by-owner-paid')).toHaveLength(2)
    expect((await markPaid(deps, settlementId)).status).toBe('manual_paid')
  })

  it('is not what came and went back before it was swept', async ({ deps, client }) => {
    const gone = succeededPayment(client, { paidAt: deps.now(), providerSettledAt: deps.now() })
    await storeSucceeded(deps, [gone, succeededPayment(client, { paidAt: addMs(deps.now(), 1) })])
    await reversePayment(deps, gone, { transactionId: 'txn_gone', kind: 'reversed', amountMinor: gone.notionalMinor })
    deps.clock.set(addMs(deps.now(), 1))
    aDayLater(deps)
    const { settlementId } = await sweptNow(deps, client)

    expect(await statement(deps, settlementId)).toMatchObject({
      totals: { net_minor: 95_900, payment_count: 1 },
      provider_settled_minor: 0,
      provider_unsettled_minor: 96_000,
    })
    await expect(markPaid(deps, settlementId)).rejects.toThrow('96000')
  })

  it('is counted exactly behind those that wait, however many they are', async ({ deps, client }) => {
    const { payments, settlement } = await sixty(deps, client, false)
    await noteProviderSettled(deps, payments[59] as Payment, deps.now())
    const shown = [await statement(deps, settlement.settlementId)]
    for (const payment of payments.slice(0, 50)) await noteProviderSettled(deps, payment, deps.now())
    shown.push(await statement(deps, settlement.settlementId), await statement(deps, settlement.settlementId))

    expect(shown.map((page) => ('provider_settled_minor' in page ? page.provider_settled_minor : 0))).toStrictEqual(
      [1, 51, 51].map((count) => count * 96_000),
    )
    await expect(markPaid(deps, settlement.settlementId)).rejects.toThrow(`not paid us ${9 * 96_000} IDR`)
  })

  it('is counted over several tries when one cannot look at all of it', async ({ deps, client }) => {
    const { settlement } = await sixty(deps, client, true)
    const { settlementId } = settlement
    const small = inSteps(deps)

    const partial = await statement(small, settlementId)
    await expect(markPaid(small, settlementId)).rejects.toMatchObject({
      message: expect.stringContaining('not counted yet'),
      actionHint: expect.stringContaining('Repeat'),
    })
    await expect(markPaid(small, settlementId)).rejects.toThrow('not counted yet')

    expect(partial).toMatchObject({ provider_settled_minor: 5 * 96_000, provider_settled_is_partial: true })
    expect((await markPaid(small, settlementId)).status).toBe('manual_paid')
  })

  it('is counted although more were paid in one millisecond than one look takes', async ({ deps, client }) => {
    const paid = { paidAt: deps.now(), providerSettledAt: deps.now() }
    await storeSucceeded(
      deps,
      Array.from({ length: 12 }, () => succeededPayment(client, paid)),
    )
    deps.clock.set(addMs(deps.now(), 1))
    aDayLater(deps)
    const { settlementId } = await sweptNow(deps, client)
    const small = inSteps(deps)

    await statement(small, settlementId)

    expect(await statement(small, settlementId)).toMatchObject({
      provider_settled_minor: 12 * 96_000,
      provider_unsettled_minor: 0,
    })
  })

  it('keeps what another look has kept meanwhile', async ({ deps, client }) => {
    const { payments, settlement } = await sixty(deps, client, true)
    const { settlementId } = settlement
    const overtaken = beforeFirst(deps, 'put', () => statement(inSteps(deps), settlementId))

    const first = await statement(overtaken, settlementId)

    const figures = { provider_settled_minor: payments.length * 96_000, provider_unsettled_minor: minor(0) }
    expect(first).toMatchObject(figures)
    expect(await statement(deps, settlementId)).toMatchObject(figures)
  })

  it('is counted once where another look came further than the sums', ({ deps, client }) => {
    const [start, next, until] = [deps.now(), addMs(deps.now(), 1), addMs(deps.now(), 2)]
    const paid = [start, next].map((paidAt) => {
      const { paymentId, ...payment } = succeededPayment(client, { paidAt, providerSettledAt: until })
      return { ...payment, paidAt, id: paymentId }
    })
    const ahead = addFunding(noFunding(start), { from: start, payments: paid.slice(0, 1), until: next })

    const behind = ahead && addFunding(ahead, { from: start, payments: paid, until })
    const none = behind && addFunding(behind, { from: start, payments: paid.slice(0, 1), until: next })

    expect([ahead, behind, none]).toMatchObject([
      { until: next, fundedMinor: 96_000 },
      { until, fundedMinor: 192_000 },
      { until, fundedMinor: 192_000 },
    ])
  })

  it('is not counted behind a gap: nobody would look into it again', ({ deps }) => {
    const [start, until] = [deps.now(), addMs(deps.now(), 2)]

    const behind = [start, addMs(start, 1)].map((from) => addFunding(noFunding(start), { from, payments: [], until }))

    expect(behind).toStrictEqual([{ ...noFunding(start), until }, undefined])
  })
})
