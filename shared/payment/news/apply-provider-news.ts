import { assertNever } from '../../errors.ts'
import { PROVIDER_READ_TIMEOUT_MS, type Unanswered } from '../../provider/provider.ts'
import { heldMoney, recordSuspense } from '../../suspense/record-suspense.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { rememberCapture } from '../creating-store.ts'
import type { NewsSource, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { paymentIdOf } from '../provider-attempts.ts'
import { askForNews, type NewsSubject, type ProviderNews } from './ask-for-news.ts'
import { closePayment } from './close-payment.ts'
import { type Decision, decideOnNews } from './decide-on-news.ts'
import type { NewsDeps } from './news-deps.ts'
import { succeedCreatingPayment, succeedPayment } from './succeed-payment.ts'

export type ApplyOutcome =
  /** The books now say what the provider says. */
  | {
      readonly kind: 'applied'
      readonly payment: StoredPayment | undefined
      /** Money was seen that the payment cannot be credited with: it is in suspense. */
      readonly held?: true
    }
  /** Noted, and to be asked again: the payment is still being created. */
  | { readonly kind: 'deferred' }
  /** Paid, says the provider, and does not show the money yet: to be asked again soon. */
  | { readonly kind: 'not_shown' }
  | { readonly kind: 'not_found' }
  | Unanswered

/** A payment changes status at most twice; more disagreement than this between read and write is a bug. */
const MAX_TRIES = 6

const destinationOf = async (deps: NewsDeps, news: ProviderNews): Promise<string | undefined> => {
  if (news.requestStatus !== undefined) return news.destination
  const answer = await deps.provider.getRequest(news.paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  // The money is there and the customer needs no destination any more: no answer does not hold up the credit.
  return answer.kind === 'found' ? answer.value.destination : undefined
}

type Step = ApplyOutcome | 'again'

const applied = (payment: StoredPayment | undefined): Step => ({ kind: 'applied', payment })
const appliedOrAgain = (payment: StoredPayment | undefined): Step => (payment ? applied(payment) : 'again')

const applyDecision = async (
  deps: NewsDeps,
  decision: Decision,
  news: ProviderNews,
  stored: StoredPayment | undefined,
  source: NewsSource,
): Promise<Step> => {
  switch (decision.do) {
    case 'nothing':
      return applied(stored)
    case 'succeed': {
      const succeeded = await succeedPayment(deps, decision.payment, decision.capture, source)
      // Paid through another attempt: the destination shown must not take money a second time.
      if (succeeded && succeeded.paymentRequestId !== decision.capture.paymentRequestId) {
        await cancelOrphan(deps, succeeded.paymentRequestId, succeeded.paymentId)
      }
      return appliedOrAgain(succeeded)
    }
    case 'succeed_creating': {
      const destination = await destinationOf(deps, news)
      return appliedOrAgain(
        await succeedCreatingPayment(deps, decision.creating, decision.capture, destination, source),
      )
    }
    case 'remember': {
      const dueAt = decision.creating.leaseUntil ?? deps.now()
      const written = await rememberCapture(deps, decision.creating, decision.capture.providerPaymentId, dueAt)
      if (!written.applied) return 'again'
      deps.log.info('payment.capture_remembered', { payment_id: decision.creating.paymentId })
      return { kind: 'deferred' }
    }
    case 'hold':
      await recordSuspense(deps, heldMoney({ ...decision, payment: stored, now: deps.now() }))
      return { kind: 'applied', payment: stored, held: true }
    case 'hold_and_fail': {
      const held = heldMoney({ ...decision, now: deps.now() })
      const failureReason = decision.cause === 'wrong_amount' ? 'wrong_amount' : 'other'
      return appliedOrAgain(await closePayment(deps, decision.payment, 'failed', source, { held, failureReason }))
    }
    case 'close':
      return appliedOrAgain(await closePayment(deps, decision.payment, decision.status, source, decision))
    default:
      return assertNever(decision)
  }
}

/**
 * Applies the provider's own word to the payment that its reference names. Safe to repeat and to race. `readBefore`: that
 * payment as it was before the question. It saves a read where it is pending and money came, since every write that
 * follows refuses unless the payment is still pending. A status needs what was noted before the answer, and is read.
 */
export const applyNews = async (
  deps: NewsDeps,
  news: ProviderNews,
  source: NewsSource,
  readBefore?: StoredPayment,
): Promise<ApplyOutcome> => {
  const paymentId = paymentIdOf(news.reference)
  const isUsable = readBefore?.status === 'pending' && readBefore.paymentId === paymentId && news.capture !== undefined
  let known = isUsable ? readBefore : undefined
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const stored = known ?? (paymentId && (await findStoredPayment(deps, paymentId)))
    known = undefined
    const step = await applyDecision(deps, decideOnNews(stored, news, deps.now()), news, stored, source)
    if (step !== 'again') return step
  }
  throw new Error('a payment kept changing while news about it was applied')
}

/**
 * The one door for provider news (design section 4): callback, due work, operator and sync all come through here.
 * Asks the provider and applies what it says; the caller that named the payment is never believed.
 */
export const applyProviderNews = async (
  deps: NewsDeps,
  subject: NewsSubject,
  source: NewsSource,
  readBefore?: StoredPayment,
): Promise<ApplyOutcome> => {
  const answer = await askForNews(deps, subject)
  return answer.kind === 'news' ? applyNews(deps, answer.news, source, readBefore) : answer
}
