import {
  closesUpstream,
  isLongPastItsTime,
  isPastItsTime,
  nextCheckAt,
  RETRY_CHECK_MS,
  usualCheckAt,
} from '../../channel/channel-timing.ts'
import type { StoreDeps } from '../../deps.ts'
import type { ProviderOperation } from '../../provider/provider.ts'
import type { Item } from '../../table/attributes.ts'
import { addMs, HOUR_MS, MINUTE_MS, msBetween, type Timestamp } from '../../time.ts'
import type { Payment, StoredPayment } from '../payment.ts'
import { claimCheck, endCheck, ifStored, isForeign, parseStored } from '../payment-store.ts'
import { type ApplyOutcome, applyProviderNews } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'
import { expirePayment, noteNotFoundUpstream } from './cancel-payment.ts'

/** `rate_limited`: the provider refuses further calls for now. */
type CheckResult = 'checked' | 'not_claimed' | 'not_shown' | 'unanswered' | 'rate_limited'

/** Which check follows: the next one by the channel's times, or another try within minutes. */
type FollowUp = 'next_check' | 'retry'

/** The claim stores the time of one follow-up; the result may need the other follow-up. */
type Claim = {
  readonly nextDueAt: Timestamp
  readonly claimedFor: FollowUp
  readonly beginExpiryAt?: Timestamp
}

/**
 * Checks one due payment and its remembered captures, and expires the payment past its time. Only
 * one of two workers claims and asks.
 */
export async function checkDuePayment(
  deps: NewsDeps,
  read: Item | undefined,
): Promise<CheckResult> {
  const duePayment = parseStored(read)
  const now = deps.now()
  if (duePayment?.dueAt === undefined || duePayment.dueAt > now) return 'not_claimed'
  if (isExpiringNow(duePayment, now)) return 'not_claimed'
  const claim = claimFor(duePayment, duePayment.dueAt, now)
  const outcome = await claimCheck(deps, { ...duePayment, dueAt: duePayment.dueAt }, claim)
  const stored = outcome.applied ? parseStored(outcome.item) : undefined
  if (stored === undefined) return 'not_claimed'
  const result = await (stored.status === 'creating' || isForeign(stored)
    ? checkLastTime(deps, stored, claim)
    : checkPendingPayment(deps, stored, claim))
  if (result !== 'checked') {
    // Most calls are answered at the next try: only what lasts an hour counts.
    const isLate = stored.status !== 'creating' && isLongPastItsTime(stored, now)
    deps.log.warn('payment.check_failed', {
      payment_id: stored.paymentId,
      reason: result,
      failed: Number(isLate && result === 'unanswered'),
    })
  }
  return result
}

/** Longer than the calls of one expiry: another worker then continues it. */
const EXPIRY_CLAIM_MS = MINUTE_MS

/** A worker has begun this expiry, by any clock, and its due time was not set since. */
function isExpiringNow(stored: StoredPayment, now: Timestamp) {
  if (stored.status !== 'pending' || stored.dueAt === undefined) return false
  const { dueAt, expiryStartedAt: startedAt } = stored
  if (startedAt === undefined || dueAt >= startedAt) return false
  return Math.abs(msBetween(startedAt, now)) < EXPIRY_CLAIM_MS
}

/**
 * The claim of a usual check lasts until the expiry, so the check costs one write. If its process
 * dies, only the report of a failure is late, because the sync finds money. Other checks must not
 * be lost. The first claim of an expiry is the expiry's start: the due time stays, so the index is
 * not written.
 */
function claimFor(stored: StoredPayment, dueAt: Timestamp, now: Timestamp): Claim {
  const retry = { nextDueAt: addMs(now, RETRY_CHECK_MS), claimedFor: 'retry' } as const
  if (stored.status !== 'pending' || isForeign(stored)) return retry
  if (isPastItsTime(stored, now)) {
    if (stored.cancelRequestedAt || stored.expiryStartedAt) return retry
    return { ...retry, nextDueAt: dueAt < now ? dueAt : retry.nextDueAt, beginExpiryAt: now }
  }
  return isUsualCheck(stored, dueAt)
    ? { nextDueAt: nextCheckAt(stored, now), claimedFor: 'next_check' }
    : retry
}

function isUsualCheck(payment: Payment, dueAt: Timestamp) {
  return (
    dueAt === usualCheckAt(payment) &&
    payment.rememberedProviderPaymentIds === undefined &&
    payment.cancelRequestedAt === undefined
  )
}

/**
 * Ends the due work as soon as everything is answered. A payment of a changed row is never expired,
 * because the event would inform another merchant. Money that comes later is held.
 */
async function checkLastTime(
  deps: NewsDeps,
  stored: StoredPayment,
  claim: Claim,
): Promise<CheckResult> {
  const captureOutcomes = await askAboutCaptures(deps, stored)
  const outcomes =
    stored.status === 'creating'
      ? captureOutcomes
      : [...captureOutcomes, await askAboutOwnRequest(deps, stored)]
  const result = resultOf(outcomes)
  const isDeferred = outcomes.some(({ kind }) => kind === 'deferred')
  if (result === 'checked' && !isDeferred) await endCheck(deps, stored, claim.nextDueAt)
  return result
}

async function askAboutCaptures(
  deps: NewsDeps,
  payment: StoredPayment,
): Promise<readonly ApplyOutcome[]> {
  const mayAppear = maySoonBeShown(payment, deps.now())
  const captureIds = [...(payment.rememberedProviderPaymentIds ?? [])]
  return Array.fromAsync(captureIds, async (providerPaymentId): Promise<ApplyOutcome> => {
    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'due_work')
    // The provider may refuse to look up an id of no capture.
    const isMissing =
      outcome.kind === 'not_found' ||
      (outcome.kind === 'unanswered' && outcome.reason === 'refused')
    return isMissing ? { kind: mayAppear ? 'not_shown' : 'not_found' } : outcome
  })
}

/** After an hour the provider has repeated the callback of a capture that it did not show. */
function maySoonBeShown({ providerAttempts }: StoredPayment, now: Timestamp) {
  const startedAt = providerAttempts.at(-1)?.startedAt
  return startedAt !== undefined && now < addMs(startedAt, HOUR_MS)
}

function resultOf(outcomes: readonly ApplyOutcome[]): CheckResult {
  const failures = outcomes.filter((outcome) => outcome.kind === 'unanswered')
  if (failures.some(({ reason }) => reason === 'rate_limited')) return 'rate_limited'
  if (failures.length > 0) return 'unanswered'
  return outcomes.some(({ kind }) => kind === 'not_shown') ? 'not_shown' : 'checked'
}

/** If the payment is past its time, the claim has begun its expiry. */
async function checkPendingPayment(
  deps: NewsDeps,
  payment: Payment,
  claim: Claim,
): Promise<CheckResult> {
  try {
    const captureOutcomes = await askAboutCaptures(deps, payment)
    // An announced capture may have paid this payment, so its expiry waits.
    const isWaiting = resultOf(captureOutcomes) !== 'checked' && maySoonBeShown(payment, deps.now())
    const ownOutcome = isWaiting ? undefined : await askAboutOwnRequest(deps, payment)
    const result = resultOf(ownOutcome ? [...captureOutcomes, ownOutcome] : captureOutcomes)
    const isMissing = ownOutcome?.kind === 'not_found' && ownOutcome.isEnded
    const isAwaited = isMissing && maySoonBeShown(payment, deps.now())
    // Without a full answer the check is repeated.
    const followUp = result === 'checked' && !isAwaited ? 'next_check' : 'retry'
    const endedPayment =
      ownOutcome?.kind === 'applied' && ownOutcome.payment?.status !== 'pending'
        ? ownOutcome.payment
        : undefined
    if (endedPayment?.paymentId !== payment.paymentId)
      await scheduleFollowUp(deps, payment, claim, followUp)
    return result
  } catch (cause) {
    await scheduleFollowUp(deps, payment, claim, 'retry')
    throw cause
  }
}

async function askAboutOwnRequest(deps: NewsDeps, payment: Payment) {
  if (isPastItsTime(payment, deps.now()) && !isForeign(payment))
    return expirePayment(deps, payment, 'due_work')
  const outcome = await applyProviderNews(
    deps,
    { paymentRequestId: payment.paymentRequestId },
    'due_work',
  )
  if (outcome.kind === 'not_found') await noteNotFoundUpstream(deps, payment)
  return outcome
}

async function scheduleFollowUp(
  deps: NewsDeps,
  payment: Payment,
  claim: Claim,
  followUp: FollowUp,
) {
  if (followUp === claim.claimedFor) return
  const now = deps.now()
  const at = followUp === 'retry' ? addMs(now, RETRY_CHECK_MS) : nextCheckAt(payment, now)
  await endCheck(deps, payment, claim.nextDueAt, at)
}

/** Expiries need the scarce calls more than a late usual check does. */
export function isLateUsualCheck(read: Item, now: Timestamp): boolean {
  const stored = ifStored(read)
  if (stored?.status !== 'pending' || stored.dueAt === undefined || isPastItsTime(stored, now))
    return false
  // Due work runs every minute, and each item is done within the next minute.
  return isUsualCheck(stored, stored.dueAt) && stored.dueAt < addMs(now, -2 * MINUTE_MS)
}

/** Costs one write: the next check is at the expiry. */
export async function skipUsualCheck(deps: StoreDeps, read: Item): Promise<CheckResult> {
  const stored = parseStored(read)
  if (stored?.status !== 'pending' || stored.dueAt === undefined) return 'not_claimed'
  const claim = { nextDueAt: nextCheckAt(stored, deps.now()) }
  const { applied } = await claimCheck(deps, { ...stored, dueAt: stored.dueAt }, claim)
  return applied ? 'checked' : 'not_claimed'
}

/**
 * Each remembered capture costs one more call. `most`: the calls of one window. A check with more
 * captures takes a whole window and exceeds the quota; else it would wait for ever. The check of an
 * unreadable row fails, and must not stop other checks.
 */
export function callsOfCheck(
  read: Item,
  now: Timestamp,
  most?: number,
): readonly ProviderOperation[] {
  const stored = ifStored(read)
  const captureIds = [...(stored?.rememberedProviderPaymentIds ?? [])].slice(0, most)
  const captures = captureIds.map(() => 'getPayment' as const)
  if (stored === undefined || stored.status === 'creating') return captures
  if (!isPastItsTime(stored, now)) return [...captures, 'getRequest']
  if (isExpiringNow(stored, now)) return []
  const readsRequest = stored.cancelRequestedAt !== undefined || closesUpstream(stored)
  return [...captures, 'cancelRequest', ...(readsRequest ? (['getRequest'] as const) : [])]
}
