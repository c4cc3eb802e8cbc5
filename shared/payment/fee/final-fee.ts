import type { Deps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import { finding, logSuspense, publishSuspenseAlert } from '../../suspense/record-suspense.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import type { Payment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { type ActualFee, askForFee } from './actual-fee.ts'
import { makeFeeFinal } from './fee-store.ts'

type FeeDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'log' | 'alerts'>

/** One read after a lost race finds the winner's fee. */
const MAX_TRIES = 3

/** The amounts a fee decides. */
export type FinalAmounts = Pick<Payment, 'providerFeeMinor' | 'netMinor' | 'feeStatus'>

const amounts = ({ providerFeeMinor, netMinor, feeStatus }: Payment): FinalAmounts => ({
  providerFeeMinor,
  netMinor,
  feeStatus,
})

/** Why nobody knows the fee: without any transaction there may be no money behind the payment either. */
const assumedFinding = (deps: FeeDeps, payment: Payment, fee: ActualFee): Suspense =>
  finding({
    subject: payment.paymentId,
    cause: fee.kind === 'not_known' && !fee.hasTransaction ? 'transaction_missing' : 'fee_assumed',
    payment,
    now: deps.now(),
  })

/** The estimate becomes the fee, and the finding says so: one transaction. The alert is due work until it is out. */
const assumeFee = async (deps: FeeDeps, payment: Payment, fee: ActualFee): Promise<Payment | undefined> => {
  const noted = assumedFinding(deps, payment, fee)
  const assumed = await makeFeeFinal(deps, payment, { status: 'assumed', feeMinor: payment.providerFeeMinor, noted })
  if (assumed === undefined) return undefined
  logSuspense(deps, noted)
  await publishSuspenseAlert(deps, noted)
  return assumed
}

/**
 * Makes the fee of a payment final that has waited long enough: the provider is asked once more; when it does not know
 * either, the estimate is assumed, with a finding. Undefined while the provider cannot be asked: keep holding.
 */
export const finalFee = async (deps: FeeDeps, paymentId: PaymentId): Promise<FinalAmounts | undefined> => {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const payment = await findStoredPayment(deps, paymentId)
    if (payment?.status !== 'succeeded') return undefined
    if (payment.feeStatus !== 'estimated') return amounts(payment)
    const fee = await askForFee(deps, payment.creditedProviderPaymentId ?? '', payment)
    if (fee.kind === 'unanswered') return undefined
    const final =
      fee.kind === 'known'
        ? await makeFeeFinal(deps, payment, { ...fee, status: 'actual' })
        : await assumeFee(deps, payment, fee)
    if (final) return amounts(final)
  }
  return undefined
}
