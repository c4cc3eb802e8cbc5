import { feeByKept, isForAmount } from '../payment/fee/actual-fee.ts'
import { makeFeeFinal } from '../payment/fee/fee-store.ts'
import { type ActualFeeOf, makeFeesActual } from '../payment/fee/make-fees-actual.ts'
import type { NewsDeps } from '../payment/news/news-deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { isCreditedWith, recordFinding } from './sync-finding.ts'

/**
 * `estimated` becomes `actual` once; a fee that is final already and differs is a finding, never a correction. Answers
 * the payment as it then is.
 */
export const reconcileFee = async (
  deps: NewsDeps,
  payment: Payment,
  transaction: ProviderTransaction,
): Promise<Payment> => {
  const { keptMinor, settledAt } = transaction
  if (keptMinor === undefined) return payment
  let current = payment
  if (payment.feeStatus === 'estimated') {
    const fee = feeByKept(deps, payment, keptMinor)
    if (fee.kind === 'below_zero') {
      await recordFinding(deps, payment, transaction, 'fee_changed')
      return payment
    }
    const { feeMinor, invoiced } = fee
    const final = await makeFeeFinal(deps, payment, { status: 'actual', feeMinor, invoiced, settledAt })
    if (final) return final
    // Somebody made it final since this page was read.
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (!isCreditedWith(stored, transaction)) return payment
    current = stored
  }
  if (current.reversal?.deductedAt !== undefined && current.reversal.wholeAt !== undefined) {
    // Its client was not charged it after all.
    if (keptMinor > 0) await recordFinding(deps, current, transaction, 'fee_lost')
    return current
  }
  const expectedMinor = current.finalFee?.invoiced === true ? 0 : current.providerFeeMinor
  if (expectedMinor !== keptMinor) await recordFinding(deps, current, transaction, 'fee_changed')
  return current
}

const feeShownBy = (
  deps: NewsDeps,
  transaction: ProviderTransaction,
  payment: Payment | undefined,
): ActualFeeOf | undefined => {
  const { type, status, keptMinor, settledAt } = transaction
  if (type !== 'payment' || status !== 'success' || keptMinor === undefined) return undefined
  if (!isCreditedWith(payment, transaction) || payment.feeStatus !== 'estimated') return undefined
  if (!isForAmount(transaction, payment)) return undefined
  const fee = feeByKept(deps, payment, keptMinor)
  return fee.kind === 'known' ? { payment, feeMinor: fee.feeMinor, invoiced: fee.invoiced, settledAt } : undefined
}

/**
 * Makes the fees that a page shows final, together where they share a correction of the ledger. Answers the payments that
 * this changed; whatever else there is to say of a row is for `reconcileFee`, row by row.
 */
export const reconcileFees = async (
  deps: NewsDeps,
  rows: readonly { readonly transaction: ProviderTransaction; readonly known: Payment | undefined }[],
): Promise<readonly Payment[]> => {
  const fees = rows.flatMap(({ transaction, known }) => feeShownBy(deps, transaction, known) ?? [])
  if (fees.length === 0) return []
  return (await makeFeesActual(deps, fees)).flatMap((payment) => payment ?? [])
}
