/**
 * Money that goes back before its window is swept (design section 10): wherever the process dies, and whoever else moves
 * the books at the same moment, the net leaves the ledger once and no settlement has it.
 */
import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { toPaymentDto } from '../../../shared/payment/payment-dto.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { MoneyBack } from '../../../shared/reversal/plan-reversal.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { finding, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paidTwo, statement } from '../../support/dispute-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aDayLater, settle, sweptNow } from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { reversalTest as it } from './reversal-test.ts'

const VOIDED: MoneyBack = { transactionId: 'txn_1', kind: 'voided', amountMinor: minor(100_000) }
const back = (fields: Partial<MoneyBack>): MoneyBack => ({ ...VOIDED, ...fields })

const stored = async (deps: TestDeps, { paymentId }: Payment): Promise<Payment> => {
  const found = await findStoredPayment(deps, paymentId)
  if (found === undefined || found.status === 'creating') throw new Error('no payment')
  return found
}

describe('a payment whose money went back before it was swept', () => {
  it.for<MoneyBack>([
    VOIDED,
    back({ kind: 'reversed' }),
    back({ kind: 'refund' }),
    // The provider's fee for a dispute is in the row, and ours.
    back({ kind: 'chargeback', amountMinor: minor(125_000) }),
  ])('is in no settlement, and stays succeeded: $kind', async (money, { deps, paid: { client, first } }) => {
    await reversePayment(deps, first, money)
    const reversed = await ledgerView(deps, client.clientId)
    const payment = await stored(deps, first)
    await expectBalanced(deps, client.clientId)
    aDayLater(deps)
    const stated = await statement(deps, await sweptNow(deps, client))

    expect(reversed).toStrictEqual({ pendingMinor: 45_950, succeeded: 2 })
    expect(toPaymentDto(payment)).toMatchObject({
      status: 'succeeded',
      client_net_minor: 95_900,
      reversal: { kind: money.kind, amount_minor: money.amountMinor, at: expect.any(String) },
    })
    expect(stated).toMatchObject({
      totals: { gross_minor: 50_000, net_minor: 45_950, payment_count: 1 },
      payments: [{ net_minor: 45_950 }],
    })
    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 0 })
  })

  it('is told to the operators once, however often it is heard of', async ({ deps, paid: { client, first } }) => {
    const voided = back({ transactionId: crypto.randomUUID() })
    await reversePayment(deps, first, voided)
    await reversePayment(deps, first, voided)
    await reversePayment(deps, await stored(deps, first), voided)

    const suspenseId = `${voided.transactionId}#reversal_deducted`
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([suspenseId])
    expect(await findSuspense(deps, suspenseId)).toMatchObject({ amountMinor: 100_000 })
    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 45_950 })
  })

  it('counts all the same when it was found and told before', async ({ deps, paid: { client, first } }) => {
    const { transactionId } = back({ transactionId: crypto.randomUUID() })
    await recordSuspense(
      deps,
      finding({ subject: transactionId, cause: 'reversal_deducted', payment: first, now: deps.now() }),
    )

    await reversePayment(deps, first, back({ transactionId }))

    expect(deps.published).toHaveLength(1)
    expect(await dueAtOf(deps, 'alert', `${transactionId}#reversal_deducted`)).toBeUndefined()
    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 45_950 })
  })

  it('holds up nobody with an estimated fee, which no news makes final any more', async () => {
    const deps = testDeps()
    const { client, first } = await paidTwo(deps, { feeStatus: 'estimated' })

    await reversePayment(deps, first, VOIDED)
    const fee = await makeFeeFinal(deps, first, { status: 'actual', feeMinor: minor(4_440) })
    aDayLater(deps)

    expect(fee).toBeUndefined()
    expect(await stored(deps, first)).toMatchObject({ feeStatus: 'assumed', providerFeeMinor: 4_000 })
    expect(await sweptNow(deps, client)).toMatchObject({ netMinor: 45_950, paymentCount: 1 })
    await expectBalanced(deps, client.clientId)
  })

  it('is deducted once, when the provider takes more than all of it', async ({ deps, paid: { client, first } }) => {
    await reversePayment(deps, first, back({ kind: 'chargeback' }))
    await reversePayment(deps, first, back({ transactionId: 'txn_2' }))

    expect((await stored(deps, first)).reversal).toMatchObject({ kind: 'voided', amountMinor: 200_000 })
    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 45_950 })
    expect(await findSuspense(deps, 'txn_2#reversed_upstream')).toMatchObject({ status: 'open' })
  })

  it('is deducted with the fee that became final at the same moment', async () => {
    const deps = testDeps()
    const { client, first } = await paidTwo(deps, { feeStatus: 'estimated' })
    const racing = beforeFirst(deps, 'transact', () =>
      makeFeeFinal(deps, first, { status: 'actual', feeMinor: minor(4_440) }),
    )

    await reversePayment(racing, first, VOIDED)

    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 45_950 })
    await expectBalanced(deps, client.clientId)
  })

  it('is owed, not deducted, when a settlement swept it meanwhile', async ({ deps, paid: { client, first } }) => {
    aDayLater(deps)
    const racing = beforeFirst(deps, 'transact', () => settle(deps, client))

    await reversePayment(racing, first, VOIDED)

    const payment = await stored(deps, first)
    expect(payment.reversal).toMatchObject({ kind: 'voided' })
    expect(payment.reversal?.deductedAt).toBeUndefined()
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual(['txn_1#reversed_after_settlement'])
  })

  it('is left out by a settlement that had summed it already', async ({ deps, paid: { client, first } }) => {
    aDayLater(deps)
    const racing = beforeFirst(deps, 'transact', () => reversePayment(deps, first, VOIDED))

    const { settlements } = await settle(racing, client)

    expect(settlements).toMatchObject([{ netMinor: 45_950, paymentCount: 1 }])
  })

  it('shares its number with nobody reversed meanwhile', async ({ deps, paid: { client, first, second } }) => {
    const racing = beforeFirst(deps, 'transact', () => reversePayment(deps, second, back({ transactionId: 'txn_2' })))

    await reversePayment(racing, first, VOIDED)

    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, succeeded: 2 })
    aDayLater(deps)
    expect((await settle(deps, client)).settlements).toStrictEqual([])
  })
})

describe('a part of a payment that went back', () => {
  it('is shown, added up and owed, and deducts nothing', async ({ deps, paid: { client, first } }) => {
    await reversePayment(deps, first, back({ kind: 'refund', amountMinor: minor(20_000) }))
    await reversePayment(deps, first, back({ kind: 'refund', amountMinor: minor(80_000), transactionId: 'txn_2' }))

    expect((await stored(deps, first)).reversal).toMatchObject({ kind: 'refund', amountMinor: 100_000 })
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([
      'txn_1#reversed_in_part',
      'txn_2#reversed_in_part',
    ])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 141_850, succeeded: 2 })
  })

  it('does not keep the rest from being deducted whole', async ({ deps, paid: { client, first } }) => {
    await reversePayment(deps, first, back({ kind: 'refund', amountMinor: minor(20_000) }))
    await reversePayment(deps, first, back({ transactionId: 'txn_2' }))

    expect(await ledgerView(deps, client.clientId)).toMatchObject({ pendingMinor: 45_950 })
  })
})
