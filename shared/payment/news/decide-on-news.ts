import { isLongPastItsTime, isPastItsTime } from '../../channel/channel-timing.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import type { MoneyCause } from '../../suspense/suspense.ts'
import type { Timestamp } from '../../time.ts'
import { isUnderLease } from '../creating-store.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment.ts'
import { isForeign } from '../payment-store.ts'
import type { ProviderNews } from './ask-for-news.ts'
import type { End } from './close-payment.ts'

type HeldCapture = { readonly capture: ProviderPayment; readonly cause: MoneyCause }

export type Decision =
  | { readonly do: 'nothing' }
  | { readonly do: 'succeed'; readonly payment: Payment; readonly capture: ProviderPayment }
  | {
      readonly do: 'succeed_creating' | 'remember'
      readonly creating: CreatingPayment
      readonly capture: ProviderPayment
    }
  | (HeldCapture & { readonly do: 'hold' })
  /** The request has ended, but the provider does not find the payment that it names. */
  | { readonly do: 'wait' }
  /** The provider names a state that no document names. */
  | { readonly do: 'note'; readonly payment: StoredPayment }
  /** `money`: a wrong amount, which fails the payment and is held. */
  | (Pick<End, 'status' | 'failureReason'> & {
      readonly do: 'close'
      readonly payment: Payment
      readonly money?: HeldCapture
    })

const NOTHING: Decision = { do: 'nothing' }

export function decideOnNews(
  payment: StoredPayment | undefined,
  news: ProviderNews,
  now: Timestamp,
): Decision {
  const { capture, paymentRequestId, requestStatus: status, failureReason } = news
  if (capture) return decideOnCapture(payment, capture, now)
  if (status === 'unknown') return payment ? { do: 'note', payment } : NOTHING
  // The end of a foreign payment would inform the merchant of the changed row.
  if (news.isAwaited || payment?.status !== 'pending' || isForeign(payment)) return NOTHING
  if (paymentRequestId !== payment.paymentRequestId) return NOTHING
  // `succeeded` without a capture is not money yet.
  if (status === undefined || status === 'open' || status === 'succeeded') return NOTHING
  // That payment may be a capture, which outranks the end of its request.
  if (news.isMissing && !isLongPastItsTime(payment, now)) return { do: 'wait' }
  if (status !== 'cancelled') return { do: 'close', payment, status, failureReason }
  // Cancelled by the client, by our expiry, or by a person at the provider (design section 4).
  // After our expiry has begun, the provider may be reporting our own cancel.
  const isByClient =
    payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined
  const closedAs = isByClient ? 'cancelled' : isPastItsTime(payment, now) ? 'expired' : 'failed'
  return { do: 'close', payment, status: closedAs, failureReason: 'cancelled_upstream' }
}

function decideOnCapture(
  payment: StoredPayment | undefined,
  capture: ProviderPayment,
  now: Timestamp,
): Decision {
  const hold = (cause: MoneyCause): Decision => {
    return { do: 'hold', capture, cause: isRupiah(capture) ? cause : 'wrong_currency' }
  }
  if (payment === undefined) return hold('unknown_reference')
  const foreign = { do: 'hold', capture, cause: 'payment_foreign' } as const
  if (payment.status === 'creating') {
    const isRunning = isUnderLease(payment, now)
    // A running attempt commits the whole row, with its true client.
    if (isForeign(payment) && !isRunning) return foreign
    // After the attempt the merchant can see the payment, and the money that is held for it.
    if (isRunning) return { do: 'remember', creating: payment, capture }
    const cause = mismatch(capture, payment.request.notionalMinor)
    if (cause !== undefined) return hold(cause)
    return { do: 'succeed_creating', creating: payment, capture }
  }
  if (payment.capture?.providerPaymentId === capture.providerPaymentId) return NOTHING
  if (isForeign(payment)) return foreign
  if (payment.status === 'succeeded') return hold('second_capture')
  const cause = mismatch(capture, payment.notionalMinor)
  if (payment.status !== 'pending') return hold(cause ?? 'payment_not_pending')
  if (cause === undefined) return { do: 'succeed', payment, capture }
  // Only the request whose destination was shown can close the payment. Money of another attempt is
  // held.
  if (capture.paymentRequestId !== payment.paymentRequestId) return hold(cause)
  const failureReason = cause === 'wrong_amount' ? cause : 'other'
  return { do: 'close', payment, status: 'failed', failureReason, money: { capture, cause } }
}

function isRupiah({ currency }: ProviderPayment) {
  return currency === 'IDR'
}

function mismatch(capture: ProviderPayment, notionalMinor: number): MoneyCause | undefined {
  if (!isRupiah(capture)) return 'wrong_currency'
  return capture.capturedMinor === notionalMinor ? undefined : 'wrong_amount'
}
