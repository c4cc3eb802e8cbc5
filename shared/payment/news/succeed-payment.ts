import { credit } from '../../ledger/count-store.ts'
import { loggedPayment } from '../../log.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import { transactWhileFresh } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import { type Announcement, announcementOf, tellWorkers } from '../announcement.ts'
import { commitSucceeded, putPointers } from '../creating-store.ts'
import { invoicedFee } from '../fee/actual-fee.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, NewsSource, Payment } from '../payment.ts'
import { leavePending, transitioned } from '../payment-store.ts'
import type { NewsDeps } from './news-deps.ts'

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

const afterSuccess = async (
  deps: NewsDeps,
  payment: Payment,
  source: NewsSource,
  told: Announcement,
): Promise<Payment> => {
  // This line and the payment's timeline show a merchant without an endpoint.
  deps.log.info('payment.succeeded', { ...loggedPayment(payment), source, deliveries: told.deliveries.length })
  await tellWorkers(deps, told)
  return payment
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
  const now = deps.now()
  const succeeded = paidBy(deps, payment, { capture, at: now, source })
  const told = await announcementOf(deps, succeeded, now)
  const outcome = await transactWhileFresh(
    deps,
    {
      payment: leavePending(succeeded),
      ledger: credit({ ...succeeded, from: 'pending' }, succeeded.netMinor, now),
      ...told.steps,
    },
    told.freshUntil,
  )
  return outcome.applied === true ? afterSuccess(deps, succeeded, source, told) : undefined
}

type LateCapture = {
  readonly capture: ProviderPayment
  /** Of the request that was paid; a push has none. */
  readonly destination: string | undefined
  readonly source: NewsSource
}

/**
 * Moves a payment from `creating` to `succeeded`: the customer paid a request whose answer was lost or whose attempt
 * died. The stored request is what was asked for. Refused while an attempt runs.
 */
export const succeedCreatingPayment = async (
  deps: NewsDeps,
  creating: CreatingPayment,
  { capture, destination, source }: LateCapture,
): Promise<TransitionResult> => {
  const now = deps.now()
  const upstream = { paymentRequestId: capture.paymentRequestId, destination }
  const made = newPayment(creating, upstream, { createdAt: now, expiresAt: undefined })
  const succeeded = { ...paidBy(deps, made, { capture, at: now, source }), rememberedProviderPaymentIds: undefined }
  const [told] = await Promise.all([announcementOf(deps, succeeded, now), putPointers(deps, succeeded)])
  const outcome = await transactWhileFresh(
    deps,
    {
      payment: commitSucceeded(succeeded, now),
      ledger: credit({ ...succeeded, from: undefined }, succeeded.netMinor, now),
      ...told.steps,
    },
    told.freshUntil,
  )
  return outcome.applied === true ? afterSuccess(deps, succeeded, source, told) : undefined
}
