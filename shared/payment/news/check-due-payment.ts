import { mapInChunks } from '../../chunks.ts'
import type { StoreDeps } from '../../deps.ts'
import type { ProviderOperation } from '../../provider/provider.ts'
import type { Item } from '../../table/attributes.ts'
import { addMs, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import {
  closesUpstream,
  isPastItsTime,
  nextCheckAt,
  RETRY_CHECK_MS,
  usualCheckAt,
} from '../channel/channel-timing.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment.ts'
import { claimCheck, endCheck, ifStored, parseStored, scheduleCheck } from '../payment-store.ts'
import { type ApplyOutcome, applyProviderNews } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'
import { expirePayment, noteNotFoundUpstream } from './cancel-payment.ts'

/** `rate_limited`: the provider refuses further calls for now. */
export type CheckResult = 'checked' | 'not_claimed' | 'not_shown' | 'unanswered' | 'rate_limited'

/** Which check follows: the next one by the channel's times, or another try within minutes. */
type FollowUp = 'next_check' | 'retry'

/** The claim stores the time of a follow-up; the result may need the other one. */
type Claim = {
  readonly nextDueAt: Timestamp
  readonly claimedFor: FollowUp
  readonly beginExpiryAt?: Timestamp
}

/** Checks one due payment and its remembered captures, and expires it. Only one of two workers claims and asks. */
export async function checkDuePayment(
  deps: NewsDeps,
  read: Item | undefined,
): Promise<CheckResult> {
  const due = parseStored(read)
  if (due?.dueAt === undefined || due.dueAt > deps.now()) return 'not_claimed'
  const claim = claimFor(due, due.dueAt, deps.now())
  const claimed = await claimCheck(deps, { ...due, dueAt: due.dueAt }, claim)
  const stored = claimed.applied ? parseStored(claimed.item) : undefined
  if (stored === undefined) return 'not_claimed'
  const result = await (stored.status === 'creating'
    ? checkCreating(deps, stored, claim)
    : checkPending(deps, stored, claim))
  if (result !== 'checked')
    deps.log.warn('payment.check_failed', { payment_id: due.paymentId, reason: result })
  return result
}

/**
 * Claims the check before the expiry, until the expiry: one write. If its process dies, only the report of a failure is
 * late, because the sync finds money. Every other check has a reason that must not be lost.
 */
function claimFor(stored: StoredPayment, dueAt: Timestamp, now: Timestamp): Claim {
  const retry = { nextDueAt: addMs(now, RETRY_CHECK_MS), claimedFor: 'retry' } as const
  if (stored.status !== 'pending') return retry
  if (isPastItsTime(stored, now))
    return stored.cancelRequestedAt ? retry : { ...retry, beginExpiryAt: now }
  return isUsualLook(stored, dueAt)
    ? { nextDueAt: nextCheckAt(stored, now), claimedFor: 'next_check' }
    : retry
}

/** The one check before the expiry, and nothing else made the payment due. */
function isUsualLook(payment: Payment, dueAt: Timestamp): boolean {
  return (
    dueAt === usualCheckAt(payment) &&
    payment.rememberedProviderPaymentIds === undefined &&
    payment.cancelRequestedAt === undefined
  )
}

async function checkCreating(
  deps: NewsDeps,
  creating: CreatingPayment,
  claim: Claim,
): Promise<CheckResult> {
  const outcomes = await askAboutRemembered(deps, creating)
  const result = resultOf(outcomes)
  const isDeferred = outcomes.some(({ kind }) => kind === 'deferred')
  if (result === 'checked' && !isDeferred) await endCheck(deps, creating.paymentId, claim.nextDueAt)
  return result
}

async function askAboutRemembered(
  deps: NewsDeps,
  payment: StoredPayment,
): Promise<readonly ApplyOutcome[]> {
  const isPatient = maySoonBeShown(payment, deps.now())
  const remembered = [...(payment.rememberedProviderPaymentIds ?? [])]
  return mapInChunks(remembered, 1, async (providerPaymentId): Promise<ApplyOutcome> => {
    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'due_work')
    // The provider may refuse to look up an id that is no capture's.
    const isMissing =
      outcome.kind === 'not_found' ||
      (outcome.kind === 'unanswered' && outcome.reason === 'refused')
    return isMissing ? { kind: isPatient ? 'not_shown' : 'not_found' } : outcome
  })
}

/** An hour later the provider has repeated the callback of a capture that it does not show. */
function maySoonBeShown({ providerAttempts }: StoredPayment, now: Timestamp): boolean {
  const asked = providerAttempts.at(-1)?.startedAt
  return asked !== undefined && now < addMs(asked, HOUR_MS)
}

function resultOf(outcomes: readonly ApplyOutcome[]): CheckResult {
  const open = outcomes.filter((outcome) => outcome.kind === 'unanswered')
  if (open.some(({ reason }) => reason === 'rate_limited')) return 'rate_limited'
  if (open.length > 0) return 'unanswered'
  return outcomes.some(({ kind }) => kind === 'not_shown') ? 'not_shown' : 'checked'
}

/** The claim has begun the expiry of a payment past its time. */
async function checkPending(deps: NewsDeps, payment: Payment, claim: Claim): Promise<CheckResult> {
  try {
    const remembered = await askAboutRemembered(deps, payment)
    // An announced capture may have paid this payment, so its expiry waits for an answer about it.
    const isWaiting = resultOf(remembered) !== 'checked' && maySoonBeShown(payment, deps.now())
    const own = isWaiting ? undefined : await askAboutOwnRequest(deps, payment)
    const result = resultOf(own ? [...remembered, own] : remembered)
    // Without a full answer the check is repeated.
    const followUp = result === 'checked' ? 'next_check' : 'retry'
    const ended =
      own?.kind === 'applied' && own.payment?.status !== 'pending' ? own.payment : undefined
    if (ended?.paymentId !== payment.paymentId) await schedule(deps, payment, claim, followUp)
    return result
  } catch (cause) {
    await schedule(deps, payment, claim, 'retry')
    throw cause
  }
}

async function askAboutOwnRequest(deps: NewsDeps, payment: Payment): Promise<ApplyOutcome> {
  if (isPastItsTime(payment, deps.now())) return expirePayment(deps, payment, 'due_work')
  const outcome = await applyProviderNews(
    deps,
    { paymentRequestId: payment.paymentRequestId },
    'due_work',
  )
  if (outcome.kind === 'not_found') await noteNotFoundUpstream(deps, payment)
  return outcome
}

async function schedule(
  deps: NewsDeps,
  payment: Payment,
  claim: Claim,
  followUp: FollowUp,
): Promise<void> {
  if (followUp === claim.claimedFor) return
  const now = deps.now()
  const at = followUp === 'retry' ? addMs(now, RETRY_CHECK_MS) : nextCheckAt(payment, now)
  await scheduleCheck(deps, payment.paymentId, claim.nextDueAt, at)
}

/** The check before the expiry when it comes late: expiries need the scarce calls more. */
export function isLateLook(read: Item, now: Timestamp): boolean {
  const stored = ifStored(read)
  if (stored?.status !== 'pending' || stored.dueAt === undefined || isPastItsTime(stored, now))
    return false
  // Due work runs every minute, and each item is done within the next.
  return isUsualLook(stored, stored.dueAt) && stored.dueAt < addMs(now, -2 * MINUTE_MS)
}

/** Skips that check in one write: the next one is at the expiry. */
export async function skipCheck(deps: StoreDeps, read: Item): Promise<CheckResult> {
  const stored = parseStored(read)
  if (stored?.status !== 'pending' || stored.dueAt === undefined) return 'not_claimed'
  const claim = { nextDueAt: nextCheckAt(stored, deps.now()) }
  const { applied } = await claimCheck(deps, { ...stored, dueAt: stored.dueAt }, claim)
  return applied ? 'checked' : 'not_claimed'
}

/**
 * The provider calls that checking this payment is expected to make. Each remembered capture costs one more. The check
 * of an unreadable row fails, and must not stop the others.
 */
export function callsOfCheck(read: Item, now: Timestamp): readonly ProviderOperation[] {
  const stored = ifStored(read)
  if (stored === undefined || stored.status === 'creating') return ['getPayment']
  if (!isPastItsTime(stored, now)) return ['getRequest']
  const isAsked = stored.cancelRequestedAt !== undefined || closesUpstream(stored)
  return isAsked ? ['cancelRequest', 'getRequest'] : ['cancelRequest']
}
