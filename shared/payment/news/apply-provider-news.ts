import { PROVIDER_READ_TIMEOUT_MS } from '../../provider/provider.ts'
import { rememberCapture } from '../attempt-store.ts'
import type { NewsSource, StoredPayment } from '../payment.ts'
import { type ApplyOutcome, appliedOrAgain, applyNews, type OnCreating } from './apply-news.ts'
import { askForNews, type NewsSubject, type ProviderNews } from './ask-for-news.ts'
import type { NewsDeps } from './news-deps.ts'
import { succeedCreatingPayment } from './succeed-payment.ts'

const destinationOf = async (deps: NewsDeps, news: ProviderNews): Promise<string | undefined> => {
  if (news.requestStatus !== undefined) return news.destination
  const answer = await deps.provider.getRequest(news.paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  // The money has arrived and the customer no longer needs the destination. A missing answer does not delay the credit.
  return answer.kind === 'found' ? answer.value.destination : undefined
}

/** Money for a payment that is being created: remembered at once, credited after its attempt. */
export const creditCreating: OnCreating = async (deps, decision, news, source) => {
  const { creating, capture } = decision
  if (decision.do === 'succeed_creating') {
    const destination = await destinationOf(deps, news)
    return appliedOrAgain(await succeedCreatingPayment(deps, creating, { capture, destination, source }))
  }
  const dueAt = creating.leaseUntil ?? deps.now()
  const written = await rememberCapture(deps, creating, capture.providerPaymentId, dueAt)
  if (!written.applied) return 'again'
  deps.log.info('payment.capture_remembered', { payment_id: creating.paymentId })
  return { kind: 'deferred' }
}

/**
 * The single entry for provider news (design section 4): callback, due work, operator and sync use it. Asks the
 * provider and applies its answer. The caller that named the payment is never believed.
 */
export const applyProviderNews = async (
  deps: NewsDeps,
  subject: NewsSubject,
  source: NewsSource,
  readBefore?: StoredPayment,
): Promise<ApplyOutcome> => {
  const answer = await askForNews(deps, subject)
  return answer.kind === 'news'
    ? applyNews(deps, answer.news, source, { readBefore, onCreating: creditCreating })
    : answer
}
