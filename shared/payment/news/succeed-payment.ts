import { credit } from '../../ledger/ledger-store.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import { finding, recordSuspense } from '../../suspense/record-suspense.ts'
import { transactWhileFresh } from '../../table/transact-while-fresh.ts'
import type { Timestamp } from '../../time.ts'
import { netOf } from '../channel/pricing.ts'
import { pointFromDestination } from '../destination-store.ts'
import { type ActualFee, feeAtSuccess } from '../fee/actual-fee.ts'
import { loggedPayment } from '../logged-payment.ts'
import { newPayment } from '../new-payment.ts'
import { putEvent } from '../outbox-store.ts'
import { type CreatingPayment, type NewsSource, type Payment, transitioned } from '../payment.ts'
import { commitSucceeded, leavePending } from '../payment-store.ts'
import { pointFromReference } from '../reference-store.ts'
import type { NewsDeps } from './news-deps.ts'

/** `undefined`: the payment is not as it was when it was read; read it again and decide again. */
export type TransitionResult = Payment | undefined

const paid = (
  payment: Payment,
  capture: ProviderPayment,
  fee: ActualFee,
  at: Timestamp,
  source: NewsSource,
): Payment => ({
  ...transitioned(payment, 'succeeded', at, source),
  paidAt: at,
  creditedProviderPaymentId: capture.providerPaymentId,
  dueAt: undefined,
  ...(fee.kind === 'known' && {
    providerFeeMinor: fee.feeMinor,
    netMinor: netOf(payment.notionalMinor, fee.feeMinor, payment.markupMinor),
    feeStatus: 'actual',
    finalFee: { status: 'actual', feeMinor: fee.feeMinor, at, ...(fee.invoiced && { invoiced: true }) },
  }),
})

const afterSuccess = async (deps: NewsDeps, payment: Payment, fee: ActualFee, source: NewsSource): Promise<Payment> => {
  deps.log.info('payment.succeeded', { ...loggedPayment(payment), source })
  if (fee.kind === 'below_zero') {
    const noted = finding({ subject: payment.paymentId, cause: 'fee_changed', payment, now: deps.now() })
    await recordSuspense(deps, { ...noted, amountMinor: fee.keptMinor })
  }
  return payment
}

/**
 * `pending` -> `succeeded`: payment, ledger credit and event in one transaction (spec 3.1). The condition on `pending`
 * is what makes the credit happen once, however many callers bring the same capture. `paid_at` is the moment of
 * recording: a try that is older than a minute is not repeated, or it could fall into a window swept meanwhile. Nobody
 * is asked for the fee where whoever brings the capture brings what is known of it.
 */
export const succeedPayment = async (
  deps: NewsDeps,
  payment: Payment,
  capture: ProviderPayment,
  source: NewsSource,
  brought?: ActualFee,
): Promise<TransitionResult> => {
  const fee = brought ?? (await feeAtSuccess(deps, capture.providerPaymentId, payment))
  const now = deps.now()
  const succeeded = paid(payment, capture, fee, now, source)
  const outcome = await transactWhileFresh(
    deps,
    {
      payment: leavePending(succeeded),
      ledger: credit({ ...succeeded, from: 'pending' }, succeeded.netMinor, now),
      event: putEvent(succeeded, deps.newId(), now),
    },
    now,
  )
  return outcome.applied === true ? afterSuccess(deps, succeeded, fee, source) : undefined
}

/**
 * `creating` -> `succeeded`: the customer paid a request whose answer never reached us, or whose attempt died. The
 * stored request is what was asked for. Refused while an attempt still runs.
 */
export const succeedCreatingPayment = async (
  deps: NewsDeps,
  creating: CreatingPayment,
  capture: ProviderPayment,
  destination: string | undefined,
  source: NewsSource,
): Promise<TransitionResult> => {
  const upstream = { paymentRequestId: capture.paymentRequestId, destination }
  const madeAt = (createdAt: Timestamp) => newPayment(creating, upstream, { createdAt, expiresAt: undefined })
  const fee = await feeAtSuccess(deps, capture.providerPaymentId, madeAt(deps.now()))
  const now = deps.now()
  const succeeded = { ...paid(madeAt(now), capture, fee, now, source), rememberedProviderPaymentIds: undefined }
  const outcome = await transactWhileFresh(
    deps,
    {
      payment: commitSucceeded(succeeded, now),
      ledger: credit({ ...succeeded, from: undefined }, succeeded.netMinor, now),
      event: putEvent(succeeded, deps.newId(), now),
      destination: pointFromDestination(succeeded),
      reference: pointFromReference(succeeded),
    },
    now,
  )
  return outcome.applied === true ? afterSuccess(deps, succeeded, fee, source) : undefined
}
