/**
 * Money that goes back when a settlement has swept it (design section 10): no payout that an operator has not looked at,
 * nothing paid twice or kept twice, and what is owed is written down until somebody says what became of it.
 */
import { describe, expect } from 'vitest'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { MoneyBack } from '../../../shared/reversal/plan-reversal.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { markSettlementPaid } from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { readWindow } from '../../../shared/settlement/window-store.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { toSuspenseDto } from '../../../shared/suspense/suspense-dto.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { figures, statement } from '../../support/dispute-builders.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { BY_OPERATOR, fail, payOut, recredit, sweep, sweptNow } from '../../support/settlement-builders.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { reversalTest as it } from './reversal-test.ts'

const voidOf = ({ paymentId, notionalMinor }: Payment): MoneyBack => ({
  transactionId: `txn_${paymentId}`,
  kind: 'voided',
  amountMinor: notionalMinor,
})

const owed = async (deps: TestDeps, payment: Payment, cause = 'reversed_after_settlement') => {
  const item = await findSuspense(deps, `txn_${payment.paymentId}#${cause}`)
  return item && toSuspenseDto(item)
}

const paid = (deps: TestDeps, { settlementId }: Settlement, confirmReversed?: number) =>
  markSettlementPaid(deps, { settlementId, ...BY_OPERATOR, confirmUnfunded: true, confirmReversed })

describe('money of a recorded settlement that went back', () => {
  it('is owed, and stops the payout until it is confirmed', async ({
    deps,
    settled: { client, first, settlement },
  }) => {
    await reversePayment(deps, first, voidOf(first))

    expect(await owed(deps, first)).toMatchObject({ kind: 'receivable', amount_minor: 95_900, status: 'open' })
    expect(deps.published).toMatchObject([{ kind: 'suspense.receivable' }])
    const refused = { code: 'validation', fieldErrors: { confirm_reversed: [expect.stringContaining('1')] } }
    await expect(paid(deps, settlement)).rejects.toMatchObject({
      ...refused,
      actionHint: expect.stringContaining(first.paymentId),
    })
    await expect(paid(deps, settlement, 2)).rejects.toMatchObject(refused)
    expect(await paid(deps, settlement, 1)).toMatchObject({ status: 'manual_paid', netMinor: 141_850 })
    expect(await figures(deps, client)).toStrictEqual([0, 0, 0, 141_850, 0])
    expect(await owed(deps, first)).toMatchObject({ status: 'open' })
  })

  it('stops a payout that was under way when it was heard of', async ({ deps, settled: { first, settlement } }) => {
    const racing = beforeFirst(deps, 'transact', () => reversePayment(deps, first, voidOf(first)))

    await expect(paid(racing, settlement)).rejects.toMatchObject({
      fieldErrors: { confirm_reversed: expect.anything() },
    })

    expect(await findAnySettlement(deps, settlement.settlementId)).toMatchObject({
      status: 'recorded',
      reversedCount: 1,
    })
  })

  it('is left out by a re-credit, and owed no more', async ({
    deps,
    settled: { client, first, second, settlement },
  }) => {
    await reversePayment(deps, first, voidOf(first))
    await fail(deps, settlement)

    await recredit(deps, settlement)
    const waiting = await figures(deps, client)
    const again = await sweptNow(deps, client)

    expect(waiting).toStrictEqual([0, 45_950, 0, 0, 95_900])
    expect(again).toMatchObject({
      netMinor: 45_950,
      grossMinor: 50_000,
      paymentCount: 1,
      replaces: settlement.settlementId,
    })
    expect(again.reversedCount).toBeUndefined()
    const { timeline } = await paymentTimeline(deps, first)
    expect(timeline.settlements).toMatchObject([{ settlement_id: settlement.settlementId }])
    expect(await statement(deps, again)).toMatchObject({ payments: [{ payment_id: second.paymentId }] })
    expect(await owed(deps, first)).toMatchObject({ status: 'resolved', resolution: 'left_out' })
    await payOut(deps, again)
    expect(await figures(deps, client)).toStrictEqual([0, 0, 0, 45_950, 95_900])
  })

  it('is told when it was recovered before a re-credit', async ({ deps, settled: { first, settlement } }) => {
    await reversePayment(deps, first, voidOf(first))
    const suspenseId = `txn_${first.paymentId}#reversed_after_settlement`
    await resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: 'recovered' })
    await fail(deps, settlement)

    await recredit(deps, settlement)

    expect(await findSuspense(deps, `${suspenseId}#left_out_though_closed`)).toMatchObject({
      status: 'open',
      amountMinor: 95_900,
    })
    expect(await owed(deps, first)).toMatchObject({ resolution: 'recovered' })
  })

  it.for(['recredit', 'record'] as const)(
    'is owed once, whatever it races: the %s',
    async (step, { deps, settled: { client, first, settlement } }) => {
      await fail(deps, settlement)
      if (step === 'record') await recredit(deps, settlement)
      const other = () => (step === 'record' ? sweep(deps, client) : recredit(deps, settlement))
      const racing = beforeFirst(deps, 'transact', other)

      await reversePayment(racing, first, voidOf(first))

      if (step === 'record') expect(await owed(deps, first)).toMatchObject({ status: 'open' })
      else expect(await figures(deps, client)).toStrictEqual([0, 45_950, 0, 0, 95_900])
    },
  )

  it('refuses a record of sums that it has changed', async ({ deps, settled: { client, first, settlement } }) => {
    await fail(deps, settlement)
    await recredit(deps, settlement)
    const racing = beforeFirst(deps, 'transact', () => reversePayment(deps, first, voidOf(first)))

    expect(await sweep(racing, client)).toStrictEqual([])

    expect(await sweep(deps, client)).toMatchObject([{ netMinor: 45_950 }])
  })

  it('leaves nothing waiting when all went back', async ({ deps, settled: { client, first, second, settlement } }) => {
    await reversePayment(deps, first, voidOf(first))
    await reversePayment(deps, second, voidOf(second))
    await fail(deps, settlement)

    await recredit(deps, settlement)

    expect((await readWindow(deps, client.clientId)).recreditedIds).toBeUndefined()
    expect(await sweep(deps, client)).toStrictEqual([])
    expect(await figures(deps, client)).toStrictEqual([0, 0, 0, 0, 141_850])
  })
})

describe('money of a settlement that is paid out and went back', () => {
  it('is owed until it is recovered, and moves nothing', async ({ deps, settled: { client, first, settlement } }) => {
    await payOut(deps, settlement)

    await reversePayment(deps, first, voidOf(first))

    const suspenseId = `txn_${first.paymentId}#reversed_after_settlement`
    const resolve = (resolution: 'refunded' | 'recovered') =>
      resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution })
    expect(await figures(deps, client)).toStrictEqual([0, 0, 0, 141_850, 0])
    await expect(resolve('refunded')).rejects.toMatchObject({ fieldErrors: { resolution: [expect.any(String)] } })
    await resolve('recovered')
    expect(await owed(deps, first)).toMatchObject({ status: 'resolved', resolution: 'recovered' })
  })
})
