import type { Deps } from '../../deps.ts'
import type {
  CallbackSubject,
  ProviderPayment,
  ProviderRequest,
  ProviderRequestStatus,
  Unanswered,
} from '../../provider/provider.ts'
import type { AnnounceDeps } from '../../webhook/delivery/announce.ts'

/** What to ask the provider about. Any caller may name it; only the provider's answer is news. */
export type NewsSubject = Partial<Pick<CallbackSubject, 'paymentRequestId' | 'providerPaymentId'>>

/** The state of a payment as the provider stores it, not as a caller quoted it. */
export type ProviderNews = Pick<
  ProviderRequest,
  'reference' | 'paymentRequestId' | 'failureReason' | 'destination'
> & {
  /** A capture. It takes precedence over every status. */
  readonly capture: ProviderPayment | undefined
  /** Undefined when only the capture was asked for. */
  readonly requestStatus: ProviderRequestStatus | undefined
}

export type NewsAnswer =
  | { readonly kind: 'news'; readonly news: ProviderNews }
  /**
   * The request or its payment is paid, but its capture is not shown yet. Nothing may be decided:
   * the capture will outrank every state of the request.
   */
  | { readonly kind: 'not_shown' }
  | { readonly kind: 'not_found' }
  | Unanswered

/** Asks about the capture that the subject names, else about the request and its latest payment. */
export async function askForNews(
  deps: Pick<Deps, 'provider'>,
  subject: NewsSubject,
): Promise<NewsAnswer> {
  let { paymentRequestId } = subject
  // A state that no document names may stand for money, so nothing is decided without its capture.
  let isUnknown = false
  if (subject.providerPaymentId !== undefined) {
    const answer = await deps.provider.getPayment(subject.providerPaymentId)
    if (answer.kind === 'unanswered') return answer
    if (answer.kind === 'found') {
      const { value: capture } = answer
      const { reference } = capture
      paymentRequestId = capture.paymentRequestId
      isUnknown = capture.status === 'unknown'
      const news = {
        reference,
        paymentRequestId,
        capture,
        requestStatus: undefined,
        destination: undefined,
      }
      if (capture.status === 'captured') return { kind: 'news', news }
      if (capture.status === 'succeeded') return { kind: 'not_shown' }
    }
  }
  if (paymentRequestId === undefined) return { kind: 'not_found' }
  const answer = await deps.provider.getRequest(paymentRequestId)
  if (answer.kind !== 'found') return answer
  const { status, latestPaymentId, ...request } = answer.value
  const requestStatus = isUnknown ? 'unknown' : status
  const answerWithoutMoney: NewsAnswer =
    requestStatus === 'succeeded'
      ? { kind: 'not_shown' }
      : { kind: 'news', news: { ...request, requestStatus, capture: undefined } }
  if (latestPaymentId === undefined || latestPaymentId === subject.providerPaymentId)
    return answerWithoutMoney
  const latestAnswer = await deps.provider.getPayment(latestPaymentId)
  // A closing status may hide a capture. Without an answer about the capture nothing is closed.
  if (latestAnswer.kind === 'unanswered') return latestAnswer
  if (latestAnswer.kind === 'found' && latestAnswer.value.status === 'succeeded')
    return { kind: 'not_shown' }
  if (latestAnswer.kind === 'found' && latestAnswer.value.status === 'unknown')
    return { kind: 'news', news: { ...request, requestStatus: 'unknown', capture: undefined } }
  if (latestAnswer.kind !== 'found' || latestAnswer.value.status !== 'captured')
    return answerWithoutMoney
  // The capture itself names its payment, whatever request led to it.
  const { reference, paymentRequestId: paidRequestId } = latestAnswer.value
  const news = {
    ...request,
    requestStatus,
    reference,
    paymentRequestId: paidRequestId,
    capture: latestAnswer.value,
  }
  return { kind: 'news', news }
}

export type NewsDeps = AnnounceDeps &
  Pick<Deps, 'stage' | 'provider' | 'now' | 'queues' | 'log' | 'alerts'>
