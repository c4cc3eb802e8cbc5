import type { Deps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import { addMs, HOUR_MS, later, type Timestamp } from '../../time.ts'
import { nextCheckAt, RETRY_CHECK_MS } from '../channel/channel-timing.ts'
import { type CreatingPayment, isPastItsTime, type Payment, type StoredPayment } from '../payment.ts'
import { claimCheck, endCheck, parseStored, scheduleCheck } from '../payment-store.ts'
import { type ApplyOutcome, applyProviderNews } from './apply-provider-news.ts'
import { expirePayment } from './expire-payment.ts'
import { noteNotFoundUpstream } from './note-not-found-upstream.ts'

type CheckDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'newId' | 'log' | 'alerts'>

/** `rate_limited`: the provider wants no more questions for now. */
export type CheckResult = 'checked' | 'not_claimed' | 'not_shown' | 'unanswered' | 'rate_limited'

const resultOf = (outcomes: readonly ApplyOutcome[]): CheckResult => {
  const open = outcomes.filter((outcome) => outcome.kind === 'unanswered')
  if (open.some(({ reason }) => reason === 'rate_limited')) return 'rate_limited'
  if (open.length > 0) return 'unanswered'
  return outcomes.some(({ kind }) => kind === 'not_shown') ? 'not_shown' : 'checked'
}

/** How long a remembered capture may be missing upstream; by then the provider has sent its callback again. */
const MISSING_TIMEOUT_MS = HOUR_MS

/** Asks about every capture we had news of while the payment was being created. One not found yet is not shown yet. */
const askAboutRemembered = async (deps: CheckDeps, payment: StoredPayment): Promise<readonly ApplyOutcome[]> => {
  const asked = payment.providerAttempts.at(-1)?.startedAt
  const isPatient = asked !== undefined && deps.now() < addMs(asked, MISSING_TIMEOUT_MS)
  const outcomes: ApplyOutcome[] = []
  for (const providerPaymentId of payment.rememberedProviderPaymentIds ?? []) {
    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'due_work')
    outcomes.push(outcome.kind === 'not_found' && isPatient ? { kind: 'not_shown' } : outcome)
  }
  return outcomes
}

const askAboutOwnRequest = async (deps: CheckDeps, payment: Payment): Promise<ApplyOutcome> => {
  if (isPastItsTime(payment, deps.now())) return expirePayment(deps, payment, 'due_work')
  const outcome = await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'due_work')
  if (outcome.kind === 'not_found') await noteNotFoundUpstream(deps, payment)
  return outcome
}

const checkPending = async (deps: CheckDeps, payment: Payment, claimedDueAt: Timestamp): Promise<CheckResult> => {
  const outcomes = [...(await askAboutRemembered(deps, payment)), await askAboutOwnRequest(deps, payment)]
  const result = resultOf(outcomes)
  // Without an answer the claim's own due time stands: it is asked again soon.
  if (result === 'checked') {
    await scheduleCheck(deps, payment.paymentId, claimedDueAt, nextCheckAt(payment, deps.now()))
  }
  return result
}

const checkCreating = async (
  deps: CheckDeps,
  creating: CreatingPayment,
  claimedDueAt: Timestamp,
): Promise<CheckResult> => {
  const outcomes = await askAboutRemembered(deps, creating)
  const result = resultOf(outcomes)
  if (result === 'checked' && outcomes.every(({ kind }) => kind !== 'deferred')) {
    await endCheck(deps, creating.paymentId, claimedDueAt)
  }
  return result
}

/**
 * Looks at one due payment: lost callbacks, captures remembered while creating, and our own expiry (design section 4).
 * The claim moves the due time forward, so of two workers one asks, and a crash is asked again after two minutes.
 */
export const checkDuePayment = async (
  deps: CheckDeps,
  due: { readonly paymentId: PaymentId; readonly dueAt: Timestamp },
): Promise<CheckResult> => {
  const claimedDueAt = addMs(later(deps.now(), due.dueAt), RETRY_CHECK_MS)
  const claimed = await claimCheck(deps, due.paymentId, due.dueAt, claimedDueAt)
  const stored = claimed.applied ? parseStored(claimed.item) : undefined
  if (stored === undefined) return 'not_claimed'
  const result = await (stored.status === 'creating'
    ? checkCreating(deps, stored, claimedDueAt)
    : checkPending(deps, stored, claimedDueAt))
  if (result !== 'checked') deps.log.warn('payment.check_failed', { payment_id: due.paymentId, reason: result })
  return result
}
