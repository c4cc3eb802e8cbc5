import type { FailureReason } from '../../payment-status.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import type { MoneyCause } from '../../suspense/suspense.ts'
import type { Timestamp } from '../../time.ts'
import { isPastItsTime } from '../channel/channel-timing.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment.ts'
import type { ProviderNews } from './ask-for-news.ts'

/** What provider news means for a payment in its present state. Pure: the same facts give the same decision. */
export type Decision =
  | { readonly do: 'nothing' }
  | { readonly do: 'succeed'; readonly payment: Payment; readonly capture: ProviderPayment }
  | { readonly do: 'succeed_creating'; readonly creating: CreatingPayment; readonly capture: ProviderPayment }
  | { readonly do: 'remember'; readonly creating: CreatingPayment; readonly capture: ProviderPayment }
  | { readonly do: 'hold'; readonly capture: ProviderPayment; readonly cause: MoneyCause }
  | {
      readonly do: 'hold_and_fail'
      readonly payment: Payment
      readonly capture: ProviderPayment
      readonly cause: MoneyCause
    }
  | {
      readonly do: 'close'
      readonly payment: Payment
      readonly status: 'failed' | 'expired' | 'cancelled'
      /** Of a failed payment. */
      readonly failureReason?: FailureReason | undefined
    }

const NOTHING: Decision = { do: 'nothing' }

/** Why a capture differs from what was asked for; undefined when it matches. */
const mismatch = (capture: ProviderPayment, notionalMinor: number): MoneyCause | undefined => {
  if (capture.currency !== 'IDR') return 'wrong_currency'
  return capture.capturedMinor === notionalMinor ? undefined : 'wrong_amount'
}

const isCreatingUnderLease = (creating: CreatingPayment, now: Timestamp) =>
  creating.leaseUntil !== undefined && creating.leaseUntil > now

const onCaptureWhileCreating = (creating: CreatingPayment, capture: ProviderPayment, now: Timestamp): Decision => {
  const cause = mismatch(capture, creating.request.notionalMinor)
  if (cause !== undefined) return { do: 'hold', capture, cause }
  return { do: isCreatingUnderLease(creating, now) ? 'remember' : 'succeed_creating', creating, capture }
}

const onCapture = (payment: StoredPayment | undefined, capture: ProviderPayment, now: Timestamp): Decision => {
  if (payment === undefined) return { do: 'hold', capture, cause: 'unknown_reference' }
  if (payment.status === 'creating') return onCaptureWhileCreating(payment, capture, now)
  if (payment.creditedProviderPaymentId === capture.providerPaymentId) return NOTHING
  if (payment.status === 'succeeded') return { do: 'hold', capture, cause: 'second_capture' }
  const cause = mismatch(capture, payment.notionalMinor)
  if (payment.status !== 'pending') return { do: 'hold', capture, cause: cause ?? 'payment_not_pending' }
  if (cause === undefined) return { do: 'succeed', payment, capture }
  // Only the request whose destination was shown can close the payment. Money of another attempt is held.
  return capture.paymentRequestId === payment.paymentRequestId
    ? { do: 'hold_and_fail', payment, capture, cause }
    : { do: 'hold', capture, cause }
}

/**
 * A request was cancelled at the provider: for the client, by our expiry, or by someone at the provider (design section
 * 4).
 */
const statusOfCancelled = (payment: Payment, now: Timestamp): 'cancelled' | 'expired' | 'failed' => {
  // After our expiry has begun, the provider may be reporting our own cancel.
  if (payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined) return 'cancelled'
  return isPastItsTime(payment, now) ? 'expired' : 'failed'
}

const onStatus = (payment: Payment, news: ProviderNews, now: Timestamp): Decision => {
  if (news.paymentRequestId !== payment.paymentRequestId) return NOTHING
  switch (news.requestStatus) {
    case 'failed':
      return { do: 'close', payment, status: 'failed', failureReason: news.failureReason }
    case 'expired':
      return { do: 'close', payment, status: 'expired' }
    case 'cancelled':
      return { do: 'close', payment, status: statusOfCancelled(payment, now), failureReason: 'cancelled_upstream' }
    // `succeeded` without a capture is not money yet.
    case 'succeeded':
    case 'open':
    case undefined:
      return NOTHING
  }
}

export const decideOnNews = (payment: StoredPayment | undefined, news: ProviderNews, now: Timestamp): Decision => {
  if (news.capture) return onCapture(payment, news.capture, now)
  return payment?.status === 'pending' ? onStatus(payment, news, now) : NOTHING
}
