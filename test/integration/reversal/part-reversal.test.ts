import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { MoneyBack } from '../../../shared/reversal/plan-reversal.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { partOwedId } from '../../../shared/reversal/reversed-parts.ts'
import { markSettlementPaid } from '../../../shared/settlement/close-settlement.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { toSuspenseDto } from '../../../shared/suspense/suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import {
  aDayLater,
  aSucceededPayment,
  BY_OPERATOR,
  fail,
  recredit,
  settlementsOf,
  sweptNow,
  withFloor,
} from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

it('what came for a payment that was left out does not count as arrived for the rest', async () => {
  const deps = testDeps()
  const client = await withFloor(deps)
  const gone = await aSucceededPayment(deps, client)
  await aSucceededPayment(deps, client)
  aDayLater(deps)
  const settlement = await sweptNow(deps, client)
  await noteProviderSettled(deps, gone, deps.now())
  await reversePayment(deps, gone, { transactionId: 'txn', kind: 'reversed', amountMinor: gone.notionalMinor })
  await fail(deps, settlement)
  await recredit(deps, settlement)

  const { settlementId } = await sweptNow(deps, client)

  await expect(
    markSettlementPaid(deps, { settlementId, ...BY_OPERATOR, confirmUnfunded: false }),
  ).rejects.toMatchObject({ fieldErrors: { confirm_unfunded: expect.anything() } })
})

describe('a part that went back', () => {
  const partOf = ({ paymentId }: Payment): MoneyBack => ({
    transactionId: `part_${paymentId}`,
    kind: 'refund',
    amountMinor: minor(20_000),
  })

  it('before the sweep marks the settlement that sweeps it, and its re-credited successor', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    const first = await aSucceededPayment(deps, client)
    await reversePayment(deps, first, partOf(first))
    aDayLater(deps)
    const settlement = await sweptNow(deps, client)

    await expect(
      markSettlementPaid(deps, { settlementId: settlement.settlementId, ...BY_OPERATOR, confirmUnfunded: true }),
    ).rejects.toMatchObject({ fieldErrors: { confirm_reversed: expect.anything() } })
    await fail(deps, settlement)
    await recredit(deps, settlement)
    const again = await sweptNow(deps, client)

    expect(again).toMatchObject({ netMinor: 95_900, reversedCount: 1 })
    expect(await findSuspense(deps, partOwedId(`part_${first.paymentId}`))).toMatchObject({ amountMinor: 20_000 })
    await expectBalanced(deps, client.clientId)
  })

  it('is noted on the settlement that is paid out, though it was recorded again at the same moment', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    const first = await aSucceededPayment(deps, client)
    aDayLater(deps)
    const settlement = await sweptNow(deps, client)
    await fail(deps, settlement)
    await recredit(deps, settlement)
    const racing = beforeFirst(deps, 'transact', () => sweptNow(deps, client))

    await reversePayment(racing, first, partOf(first))

    const again = (await settlementsOf(deps, client)).find(({ replaces }) => replaces === settlement.settlementId)
    expect(again?.reversedCount).toBe(1)
    await expectBalanced(deps, client.clientId)
  })

  it('is told when it was recovered before all of the payment went back', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    const first = await aSucceededPayment(deps, client)
    await reversePayment(deps, first, partOf(first))
    const suspenseId = partOwedId(`part_${first.paymentId}`)
    await resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: 'recovered' })

    const whole = { transactionId: `txn_${first.paymentId}`, kind: 'voided', amountMinor: first.notionalMinor } as const
    await reversePayment(deps, first, whole)

    expect(await findSuspense(deps, `${suspenseId}#left_out_though_closed`)).toMatchObject({ amountMinor: 20_000 })
    await expectBalanced(deps, client.clientId)
  })

  it('is owed no longer once all of the payment goes back', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    const first = await aSucceededPayment(deps, client)
    aDayLater(deps)
    await sweptNow(deps, client)
    await reversePayment(deps, first, partOf(first))

    const whole = { transactionId: `txn_${first.paymentId}`, kind: 'voided', amountMinor: first.notionalMinor } as const
    await reversePayment(deps, first, whole)

    const part = await findSuspense(deps, partOwedId(`part_${first.paymentId}`))
    expect(part && toSuspenseDto(part)).toMatchObject({ status: 'resolved', resolution: 'left_out' })
    expect(await findSuspense(deps, `${whole.transactionId}#reversed_after_settlement`)).toMatchObject({
      amountMinor: 95_900,
      status: 'open',
    })
    await expectBalanced(deps, client.clientId)
  })
})
