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
  /** The capture that is named may be shown a moment later: until then its request ends nothing. */
  readonly isAwaited?: boolean
  /** The provider does not find the capture that is named, or that its own request names. */
  readonly isMissing?: boolean
}

export type NewsAnswer =
  | { readonly kind: 'news'; readonly news: ProviderNews }
  /**
   * The request or its payment is paid, but its capture is not shown yet. Nothing may be decided:
   * the capture will outrank every state of the request.
   */
  | { readonly kind: 'not_shown' }
  /** `isEnded`: of a request that has ended the provider does not find the payment it names. */
  | { readonly kind: 'not_found'; readonly isEnded?: true }
  | Unanswered

/** Asks about the capture that the subject names, else about the request and its latest payment. */
export async function askForNews(
  deps: Pick<Deps, 'provider'>,
  subject: NewsSubject,
): Promise<NewsAnswer> {
  let { paymentRequestId } = subject
  let asked: ProviderPayment | undefined
  if (subject.providerPaymentId !== undefined) {
    const answer = await deps.provider.getPayment(subject.providerPaymentId)
    if (answer.kind === 'unanswered') return answer
    if (answer.kind === 'found') {
      asked = answer.value
      paymentRequestId = asked.paymentRequestId
      if (asked.status === 'captured') return newsOf(asked)
      if (asked.status === 'succeeded') return { kind: 'not_shown' }
    }
  }
  if (paymentRequestId === undefined) return { kind: 'not_found' }
  const answer = await deps.provider.getRequest(paymentRequestId)
  if (answer.kind !== 'found') return answer
  const { status, latestPaymentId, ...request } = answer.value
  let latest = asked
  let isMissing = subject.providerPaymentId !== undefined && asked === undefined
  if (latestPaymentId !== undefined && latestPaymentId !== subject.providerPaymentId) {
    const latestAnswer = await deps.provider.getPayment(latestPaymentId)
    // A closing status may hide a capture. Without an answer about the capture nothing is closed.
    if (latestAnswer.kind === 'unanswered') return latestAnswer
    isMissing ||= latestAnswer.kind === 'not_found'
    if (latestAnswer.kind === 'found') latest = latestAnswer.value
  }
  // A state that no document names may stand for money, so nothing is decided without its capture.
  const isUnknown = [asked, latest].some((payment) => payment?.status === 'unknown')
  const requestStatus = isUnknown ? 'unknown' : status
  if (latest?.status === 'captured') return newsOf(latest, { ...request, requestStatus })
  if (latest?.status === 'succeeded' || requestStatus === 'succeeded') return { kind: 'not_shown' }
  const failureReason = request.failureReason ?? latest?.failureReason
  const isAwaited = asked ? asked.status === 'open' : subject.providerPaymentId !== undefined
  const unpaid = { capture: undefined, isAwaited, isMissing }
  return { kind: 'news', news: { ...request, failureReason, requestStatus, ...unpaid } }
}

/** The capture itself names its payment, whatever request led to it. */
function newsOf(
  capture: ProviderPayment,
  { requestStatus, destination }: Partial<ProviderNews> = {},
): NewsAnswer {
  const { reference, paymentRequestId } = capture
  return {
    kind: 'news',
    news: { requestStatus, destination, reference, paymentRequestId, capture },
  }
}

export type NewsDeps = AnnounceDeps &
  Pick<Deps, 'stage' | 'provider' | 'now' | 'queues' | 'log' | 'alerts'>
