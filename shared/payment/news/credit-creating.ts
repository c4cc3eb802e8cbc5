import { PROVIDER_READ_TIMEOUT_MS, type ProviderPayment } from '../../provider/provider.ts'
import { announcementOf } from '../announcement.ts'
import { rememberCapture } from '../attempt-store.ts'
import { commitSucceeded, putPointers } from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, NewsSource } from '../payment.ts'
import type { OnCreating } from './apply-news.ts'
import type { NewsDeps, ProviderNews } from './ask-for-news.ts'
import { commitSuccess, paidBy, type TransitionResult } from './succeed-payment.ts'

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
    const succeeded = await succeedCreatingPayment(deps, creating, { capture, destination, source })
    return succeeded ? { kind: 'applied', payment: succeeded } : 'again'
  }
  const dueAt = creating.leaseUntil ?? deps.now()
  const written = await rememberCapture(deps, creating, capture.providerPaymentId, dueAt)
  if (!written.applied) return 'again'
  deps.log.info('payment.capture_remembered', { payment_id: creating.paymentId })
  return { kind: 'deferred' }
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
  const at = deps.now()
  const upstream = { paymentRequestId: capture.paymentRequestId, destination }
  const made = newPayment(creating, upstream, { createdAt: at, expiresAt: undefined })
  const succeeded = { ...paidBy(deps, made, { capture, at, source }), rememberedProviderPaymentIds: undefined }
  const [told] = await Promise.all([announcementOf(deps, succeeded, at), putPointers(deps, succeeded)])
  return commitSuccess(deps, succeeded, { payment: commitSucceeded(succeeded, at), from: undefined, at, source }, told)
}
