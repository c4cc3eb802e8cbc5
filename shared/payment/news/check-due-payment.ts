import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import type { ProviderOperation } from '../../provider/provider.ts'
import type { Item } from '../../table/attributes.ts'
import { addMs, HOUR_MS, MINUTE_MS, type Timestamp, TimestampSchema } from '../../time.ts'
import { closesUpstream, nextCheckAt, RETRY_CHECK_MS, usualCheckAt } from '../channel/channel-timing.ts'
import { type CreatingPayment, isPastItsTime, type Payment, type StoredPayment } from '../payment.ts'
import { claimCheck, endCheck, parseStored, scheduleCheck } from '../payment-store.ts'
import type { ApplyOutcome } from './apply-news.ts'
import { applyProviderNews } from './apply-provider-news.ts'
import { expirePayment } from './expire-payment.ts'
import type { NewsDeps } from './news-deps.ts'
import { noteNotFoundUpstream } from './note-not-found-upstream.ts'

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
const askAboutRemembered = async (deps: NewsDeps, payment: StoredPayment): Promise<readonly ApplyOutcome[]> => {
  const asked = payment.providerAttempts.at(-1)?.startedAt
  const isPatient = asked !== undefined && deps.now() < addMs(asked, MISSING_TIMEOUT_MS)
  const outcomes: ApplyOutcome[] = []
  for (const providerPaymentId of payment.rememberedProviderPaymentIds ?? []) {
    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'due_work')
    outcomes.push(outcome.kind === 'not_found' && isPatient ? { kind: 'not_shown' } : outcome)
  }
  return outcomes
}

const askAboutOwnRequest = async (deps: NewsDeps, payment: Payment): Promise<ApplyOutcome> => {
  if (isPastItsTime(payment, deps.now())) return expirePayment(deps, payment, 'due_work')
  const outcome = await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'due_work')
  if (outcome.kind === 'not_found') await noteNotFoundUpstream(deps, payment)
  return outcome
}

const hasEnded = (outcome: ApplyOutcome, paymentId: PaymentId): boolean =>
  outcome.kind === 'applied' && outcome.payment?.paymentId === paymentId && outcome.payment.status !== 'pending'

const scheduleRetry = (deps: NewsDeps, paymentId: PaymentId, { nextDueAt }: Claim) =>
  scheduleCheck(deps, paymentId, nextDueAt, addMs(deps.now(), RETRY_CHECK_MS))

/** Behind the claim, which has begun the expiry of a payment past its time. */
const checkPending = async (deps: NewsDeps, payment: Payment, claim: Claim): Promise<CheckResult> => {
  const { paymentId } = payment
  const outcomes = [...(await askAboutRemembered(deps, payment)), await askAboutOwnRequest(deps, payment)]
  const result = resultOf(outcomes)
  const isAnswered = result === 'checked'
  // A claim says when to look next unless it turned out otherwise: then, and only then, it is written again.
  if (isAnswered !== claim.isForRetry || outcomes.some((outcome) => hasEnded(outcome, paymentId))) return result
  if (!isAnswered) await scheduleRetry(deps, paymentId, claim)
  else await scheduleCheck(deps, paymentId, claim.nextDueAt, nextCheckAt(payment, deps.now()))
  return result
}

const checkCreating = async (deps: NewsDeps, creating: CreatingPayment, claim: Claim): Promise<CheckResult> => {
  const outcomes = await askAboutRemembered(deps, creating)
  const result = resultOf(outcomes)
  if (result === 'checked' && outcomes.every(({ kind }) => kind !== 'deferred')) {
    await endCheck(deps, creating.paymentId, claim.nextDueAt)
  }
  return result
}

const DueSchema = v.object({ dueAt: v.optional(TimestampSchema) })

/** `isForRetry`: whoever dies behind the claim is followed within minutes, and what was learnt sets the next look. */
type Claim = { readonly nextDueAt: Timestamp; readonly isForRetry: boolean; readonly beginExpiryAt?: Timestamp }

/** The one look before its time is over, where nothing else has made it due. */
const isUsualLook = (payment: Payment, dueAt: Timestamp): boolean =>
  dueAt === usualCheckAt(payment) &&
  payment.rememberedProviderPaymentIds === undefined &&
  payment.cancelRequestedAt === undefined

/**
 * The look at the end of its usual time is claimed until its expiry: one write, and if its process dies nothing is lost
 * but the hour of a failure, since the sync finds money. All else has a reason that must not be forgotten.
 */
const claimFor = (stored: StoredPayment, dueAt: Timestamp, now: Timestamp): Claim => {
  const retry = { nextDueAt: addMs(now, RETRY_CHECK_MS), isForRetry: true }
  if (stored.status !== 'pending') return retry
  const { expiryStartedAt, cancelRequestedAt } = stored
  if (isPastItsTime(stored, now)) {
    return (expiryStartedAt ?? cancelRequestedAt) ? retry : { ...retry, beginExpiryAt: now }
  }
  return isUsualLook(stored, dueAt) ? { nextDueAt: nextCheckAt(stored, now), isForRetry: false } : retry
}

/**
 * What the check of a payment, as it was read, is expected to ask of the provider, each once: its cancel when its time is
 * over, and a question where the provider has closed it by itself or where it is not over. A capture costs one more.
 */
export const callsOfCheck = (read: Item, now: Timestamp): readonly ProviderOperation[] => {
  const stored = parseStored(read)
  if (stored === undefined || stored.status === 'creating') return ['getPayment']
  if (!isPastItsTime(stored, now)) return ['getRequest']
  const isAsked = stored.cancelRequestedAt !== undefined || closesUpstream(stored)
  return isAsked ? ['cancelRequest', 'getRequest'] : ['cancelRequest']
}

/** Due work is looked at each minute, and done within the next. */
const LATE_MS = 2 * MINUTE_MS

/** The look at the end of its usual time, when it comes late: where calls are short, expiries need them more. */
export const isLateLook = (read: Item, now: Timestamp): boolean => {
  const stored = parseStored(read)
  const { dueAt } = v.parse(DueSchema, read)
  if (stored?.status !== 'pending' || dueAt === undefined || isPastItsTime(stored, now)) return false
  return isUsualLook(stored, dueAt) && dueAt < addMs(now, -LATE_MS)
}

/** Leaves that look out, in one write: the payment is looked at next when its time is over. */
export const skipCheck = async (deps: StoreDeps, read: Item): Promise<CheckResult> => {
  const stored = parseStored(read)
  const { dueAt } = v.parse(DueSchema, read)
  if (stored?.status !== 'pending' || dueAt === undefined) return 'not_claimed'
  const claim = { nextDueAt: nextCheckAt(stored, deps.now()) }
  const { applied } = await claimCheck(deps, { paymentId: stored.paymentId, dueAt }, claim)
  return applied ? 'checked' : 'not_claimed'
}

/**
 * Looks at one due payment, as it was read: whether it was paid or has failed, captures remembered while creating, and
 * our own expiry (design section 4). The claim moves the due time forward on its old value, so of two workers one asks.
 */
export const checkDuePayment = async (deps: NewsDeps, read: Item | undefined): Promise<CheckResult> => {
  const due = parseStored(read)
  const { dueAt } = v.parse(DueSchema, read ?? {})
  if (due === undefined || dueAt === undefined || dueAt > deps.now()) return 'not_claimed'
  const claim = claimFor(due, dueAt, deps.now())
  const claimed = await claimCheck(deps, { paymentId: due.paymentId, dueAt }, claim)
  const stored = claimed.applied ? parseStored(claimed.item) : undefined
  if (stored === undefined) return 'not_claimed'
  const result = await (stored.status === 'creating'
    ? checkCreating(deps, stored, claim)
    : checkPending(deps, stored, claim)
  ).catch(async (cause: unknown) => {
    if (!claim.isForRetry) await scheduleRetry(deps, stored.paymentId, claim)
    throw cause
  })
  if (result !== 'checked') deps.log.warn('payment.check_failed', { payment_id: due.paymentId, reason: result })
  return result
}
