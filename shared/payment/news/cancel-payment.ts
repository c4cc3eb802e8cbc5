import { CANCEL_CHECK_MS, isLongPastItsTime, isPastItsTime } from '../../channel/channel-timing.ts'
import { assertInvariant, assertNever, invalid } from '../../errors.ts'
import type { ClientId } from '../../ids.ts'
import { providerFailure } from '../../provider/provider.ts'
import { recordFinding } from '../../suspense/record-suspense.ts'
import { addMs } from '../../time.ts'
import type { NewsSource, Payment } from '../payment.ts'
import {
  findPayment,
  markDueNow,
  parseStored,
  recordCancelRequest,
  recordExpiryStart,
} from '../payment-store.ts'
import { type ApplyOutcome, applyNewsOfVisiblePayment } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'
import { closePayment } from './close-payment.ts'

/**
 * Cancels a pending payment (spec 4.4), at the provider first, because a cancelled payment must not
 * stay payable. If the customer paid first, the payment succeeds and the cancel is refused. A retry
 * of an interrupted cancel answers 200; without a retry, due work checks the payment within a
 * minute. After its expiry the payment expires instead. `cancelled` has no event.
 */
export async function cancelPayment(
  deps: NewsDeps,
  { clientId, id }: { readonly clientId: ClientId; readonly id: string },
): Promise<Payment> {
  const payment = await findPayment(deps, clientId, id)
  if (payment.status !== 'pending') throw notCancellableError(payment)
  const now = deps.now()
  if (isPastItsTime(payment, now)) return expireInstead(deps, payment)
  // No earlier: a check that runs beside the call could find the request open, and end at that.
  const dueAt = addMs(now, CANCEL_CHECK_MS)
  const outcome = await recordCancelRequest(deps, payment.paymentId, now, dueAt)
  if (!outcome.applied) return answerOvertakenCancel(deps, payment)
  const answer = await deps.provider.cancelRequest(payment.paymentRequestId)
  switch (answer.kind) {
    case 'cancelled':
    case 'not_cancellable': {
      const cancelled = await closePayment(deps, payment, { status: 'cancelled', source: 'cancel' })
      return cancelled ?? answerOvertakenCancel(deps, payment)
    }
    case 'final':
      return answerAfterNews(deps, payment, await applyOwnNews(deps, payment, 'cancel'))
    case 'not_found':
      await noteNotFoundUpstream(deps, payment)
      throw unansweredError({ reason: 'server_error' })
    case 'unanswered':
      throw unansweredError(answer)
    default:
      return assertNever(answer)
  }
}

function notCancellableError({ status }: Payment) {
  return invalid(`payment cannot be cancelled in status=${status}`)
}

/** The merchant gets the event, and this refusal of the cancel. */
async function expireInstead(deps: NewsDeps, payment: Payment): Promise<Payment> {
  return answerAfterNews(deps, payment, await expirePayment(deps, payment, 'cancel'))
}

/** While the stored status is pending, the outcome is unknown and the payment is due at once. */
function answerAfterNews(
  deps: NewsDeps,
  payment: Payment,
  outcome: ApplyOutcome,
): Promise<Payment> {
  return answerAsStored(deps, payment, async ({ paymentId }) => {
    await markDueNow(deps, paymentId, deps.now())
    // The request is final, but its capture is not visible yet. Neither answer would be true now.
    throw unansweredError(outcome.kind === 'unanswered' ? outcome : { reason: 'server_error' })
  })
}

/** The stored status decides, also if another caller changed it. */
async function answerAsStored(
  deps: NewsDeps,
  { clientId, paymentId }: Payment,
  whilePending: (stored: Payment) => Promise<Payment>,
): Promise<Payment> {
  const stored = await findPayment(deps, clientId, paymentId)
  if (stored.status === 'pending') return whilePending(stored)
  if (stored.status === 'cancelled') return stored
  throw notCancellableError(stored)
}

function unansweredError(answer: Parameters<typeof providerFailure>[0]) {
  return providerFailure(answer, 'the payment is unchanged here, try again')
}

/**
 * Expires a payment that is past its time (design section 4), at the provider first, because
 * wallets and QRIS ignore our expiry and would stay payable. The expiry's start is stored before
 * our cancel is sent, so that after a crash the next worker recognises that cancel as ours. The
 * provider is first asked about an unresolved cancel of the merchant.
 */
export async function expirePayment(
  deps: NewsDeps,
  payment: Payment,
  source: NewsSource,
): Promise<ApplyOutcome> {
  if (payment.expiryStartedAt !== undefined) return cancelAndClose(deps, payment, source)
  if (payment.cancelRequestedAt !== undefined) {
    const newsOutcome = await applyOwnNews(deps, payment, source)
    const isOpen =
      newsOutcome.kind === 'not_found'
        ? newsOutcome.isEnded !== true
        : newsOutcome.kind === 'applied' && newsOutcome.payment?.status === 'pending'
    if (!isOpen) return newsOutcome
  }
  const outcome = await recordExpiryStart(deps, payment, deps.now())
  if (outcome.applied) return cancelAndClose(deps, payment, source)
  const stored = parseStored(outcome.item)
  // A pending payment refuses only after a new cancel of its merchant. A payment has one such
  // cancel, so this call does not repeat.
  return stored?.status === 'pending'
    ? expirePayment(deps, stored, source)
    : { kind: 'applied', payment: stored }
}

async function cancelAndClose(
  deps: NewsDeps,
  payment: Payment,
  source: NewsSource,
): Promise<ApplyOutcome> {
  const answer = await deps.provider.cancelRequest(payment.paymentRequestId)
  if (answer.kind === 'final') {
    const outcome = await applyOwnNews(deps, payment, source)
    const isPending = outcome.kind === 'applied' && outcome.payment?.status === 'pending'
    // A missing request may appear later: our expiry waits an hour after it has begun.
    const hasWaited = payment.expiryStartedAt && isLongPastItsTime(payment, deps.now())
    // Money that was given back before a restore ends no payment.
    const isOver = outcome.kind === 'not_found' ? hasWaited : isPending && outcome.held
    if (!isOver) {
      if (isPending) await noteHanging(deps, payment)
      return outcome
    }
  }
  if (answer.kind === 'unanswered') return answer
  if (answer.kind === 'not_found') await noteNotFoundUpstream(deps, payment)
  return {
    kind: 'applied',
    payment: await closePayment(deps, payment, { status: 'expired', source }),
  }
}

/** Operators hear at once of a missing request or payment; of a hidden end or money in an hour. */
async function applyOwnNews(deps: NewsDeps, payment: Payment, source: NewsSource) {
  const outcome = await applyNewsOfVisiblePayment(deps, payment, source)
  if (outcome.kind === 'not_found') await noteNotFoundUpstream(deps, payment)
  if (outcome.kind === 'not_shown') await noteHanging(deps, payment)
  return outcome
}

/** A request's end or capture may be shown minutes after the refusal. */
async function noteHanging(deps: NewsDeps, payment: Payment) {
  if (!isLongPastItsTime(payment, deps.now())) return
  await recordFinding(deps, { subject: payment.paymentId, cause: 'state_unknown', payment })
}

/** A wrong or rotated key looks the same as a missing request, so an operator must check. */
export function noteNotFoundUpstream(deps: NewsDeps, payment: Payment): Promise<void> {
  return recordFinding(deps, { subject: payment.paymentId, cause: 'not_found_upstream', payment })
}

function answerOvertakenCancel(deps: NewsDeps, payment: Payment): Promise<Payment> {
  return answerAsStored(deps, payment, (stored) => {
    assertInvariant(isPastItsTime(stored, deps.now()), 'a pending payment refused its cancel')
    return expireInstead(deps, stored)
  })
}
