import type { Deps } from '../../deps.ts'
import { credit } from '../../ledger/count-store.ts'
import { loggedPayment } from '../../log.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import type { Step } from '../../table/step.ts'
import { transactWhileFresh } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import { type Announcement, announcementOf, tellWorkers } from '../announcement.ts'
import type { FinalFee, NewsSource, Payment } from '../payment.ts'
import { leavePending, transitioned } from '../payment-store.ts'
import type { NewsDeps } from './ask-for-news.ts'

/** `undefined`: the payment has changed since it was read; read it and decide again. */
export type TransitionResult = Payment | undefined

/** The payment after its capture: open, and credited with the estimated fee. */
export const paidBy = (
  deps: Pick<NewsDeps, 'stage'>,
  payment: Payment,
  { capture, at, source }: { readonly capture: ProviderPayment; readonly at: Timestamp; readonly source: NewsSource },
): Payment => {
  const finalFee = invoicedFee(deps, payment, at)
  return {
    ...transitioned(payment, 'succeeded', at, source),
    paidAt: at,
    openAt: at,
    creditedProviderPaymentId: capture.providerPaymentId,
    dueAt: undefined,
    ...(finalFee && { feeStatus: finalFee.status, finalFee }),
  }
}

/**
 * Moves a payment from `pending` to `succeeded`, with ledger credit, event and deliveries in one transaction (spec
 * 3.1). The condition on `pending` makes the credit happen once, however many callers bring the same capture. `paid_at`
 * is the time of recording: the caller repeats a try that takes longer than its endpoints are fresh. The fee is not
 * asked for, because the settled row posts the payment later.
 */
export const succeedPayment = async (
  deps: NewsDeps,
  payment: Payment,
  capture: ProviderPayment,
  source: NewsSource,
): Promise<TransitionResult> => {
  const at = deps.now()
  const succeeded = paidBy(deps, payment, { capture, at, source })
  const told = await announcementOf(deps, succeeded, at)
  return commitSuccess(deps, succeeded, { payment: leavePending(succeeded), from: 'pending', at, source }, told)
}

type Success = {
  readonly payment: Step
  readonly from: 'pending' | undefined
  readonly at: Timestamp
  readonly source: NewsSource
}

/** Commits a success with its credit and its announcement, and then tells the workers. */
export const commitSuccess = async (
  deps: NewsDeps,
  succeeded: Payment,
  { payment, from, at, source }: Success,
  told: Announcement,
): Promise<TransitionResult> => {
  const ledger = credit({ ...succeeded, from }, succeeded.netMinor, at)
  const outcome = await transactWhileFresh(deps, { payment, ledger, ...told.steps }, told.freshUntil)
  if (outcome.applied !== true) return undefined
  // This line and the payment's timeline show a merchant without an endpoint.
  deps.log.info('payment.succeeded', { ...loggedPayment(succeeded), source, deliveries: told.deliveries.length })
  await tellWorkers(deps, told)
  return succeeded
}

/** Under a contract that bills later, the tariff's fee is the actual fee, known at success. */
export const invoicedFee = (
  { stage }: Pick<Deps, 'stage'>,
  { providerFeeMinor: feeMinor }: Pick<Payment, 'providerFeeMinor'>,
  at: Timestamp,
): FinalFee | undefined =>
  stage.providerFees === 'invoiced' ? { status: 'actual', feeMinor, at, invoiced: true } : undefined
