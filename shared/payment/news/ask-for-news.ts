import type { Deps } from '../../deps.ts'
import type { FailureReason } from '../../payment-status.ts'
import {
  type Answer,
  PROVIDER_READ_TIMEOUT_MS,
  type ProviderPayment,
  type ProviderRequest,
  type ProviderRequestStatus,
  type Unanswered,
} from '../../provider/provider.ts'
import type { AnnounceDeps } from '../announcement.ts'

/** What to ask the provider about. Any caller may name it; only the provider's answer is news. */
export type NewsSubject = {
  readonly paymentRequestId?: string | undefined
  readonly providerPaymentId?: string | undefined
}

export type ProviderNews = {
  /** As the provider stores it, not as a caller quoted it. */
  readonly reference: string
  readonly paymentRequestId: string
  /** A capture. It takes precedence over every status. */
  readonly capture: ProviderPayment | undefined
  /** Undefined when only the capture was asked for. */
  readonly requestStatus: ProviderRequestStatus | undefined
  readonly failureReason?: FailureReason | undefined
  readonly destination: string | undefined
}

export type NewsAnswer =
  | { readonly kind: 'news'; readonly news: ProviderNews }
  /** The request is paid, but the provider does not show its capture yet. Nothing may be decided. */
  | { readonly kind: 'not_shown' }
  | { readonly kind: 'not_found' }
  | Unanswered

const captureNews = (capture: ProviderPayment): NewsAnswer => ({
  kind: 'news',
  news: {
    reference: capture.reference,
    paymentRequestId: capture.paymentRequestId,
    capture,
    requestStatus: undefined,
    destination: undefined,
  },
})

const askPayment = (deps: Pick<Deps, 'provider'>, id: string): Promise<Answer<ProviderPayment>> =>
  deps.provider.getPayment(id, PROVIDER_READ_TIMEOUT_MS)

const requestNews = async (
  deps: Pick<Deps, 'provider'>,
  request: ProviderRequest,
  asked: string | undefined,
): Promise<NewsAnswer> => {
  const base = {
    reference: request.reference,
    paymentRequestId: request.paymentRequestId,
    requestStatus: request.status,
    failureReason: request.failureReason,
    destination: request.destination,
  }
  const { latestPaymentId } = request
  const withoutMoney: NewsAnswer =
    request.status === 'succeeded' ? { kind: 'not_shown' } : { kind: 'news', news: { ...base, capture: undefined } }
  if (latestPaymentId === undefined || latestPaymentId === asked) return withoutMoney
  const latest = await askPayment(deps, latestPaymentId)
  // A closing status may hide a capture. Without an answer about the capture nothing is closed.
  if (latest.kind === 'unanswered') return latest
  const capture = latest.kind === 'found' && latest.value.status === 'captured' ? latest.value : undefined
  if (capture === undefined) return withoutMoney
  // The capture itself names its payment, whatever request led to it.
  const { reference, paymentRequestId } = capture
  return { kind: 'news', news: { ...base, reference, paymentRequestId, capture } }
}

/** Asks about the capture that the subject names, else about the request and its latest payment. */
export const askForNews = async (deps: Pick<Deps, 'provider'>, subject: NewsSubject): Promise<NewsAnswer> => {
  let { paymentRequestId } = subject
  if (subject.providerPaymentId !== undefined) {
    const answer = await askPayment(deps, subject.providerPaymentId)
    if (answer.kind === 'unanswered') return answer
    if (answer.kind === 'found' && answer.value.status === 'captured') return captureNews(answer.value)
    if (answer.kind === 'found') paymentRequestId = answer.value.paymentRequestId
  }
  if (paymentRequestId === undefined) return { kind: 'not_found' }
  const answer = await deps.provider.getRequest(paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  return answer.kind === 'found' ? requestNews(deps, answer.value, subject.providerPaymentId) : answer
}

export type NewsDeps = AnnounceDeps & Pick<Deps, 'stage' | 'provider' | 'now' | 'queues' | 'log' | 'alerts'>
