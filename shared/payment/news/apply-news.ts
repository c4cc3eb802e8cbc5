import { assertNever } from '../../errors.ts'
import { paymentIdOf } from '../../ids.ts'
import { heldMoney, recordFinding } from '../../suspense/record-suspense.ts'
import type { Steps } from '../../table/table.ts'
import { MINUTE_MS, msBetween, type Timestamp } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { holdMoney } from '../held-money.ts'
import type { NewsSource, Payment, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import {
  askForNews,
  type NewsAnswer,
  type NewsDeps,
  type NewsSubject,
  type ProviderNews,
} from './ask-for-news.ts'
import { closePayment } from './close-payment.ts'
import { type Decision, decideOnNews } from './decide-on-news.ts'
import { creditCondition, creditCreatingPayment, succeedPayment } from './succeed-payment.ts'

export type ApplyOutcome =
  /**
   * The payment now agrees with the provider. `held`: it cannot be credited with the money, which
   * is in suspense, or was given back.
   */
  | { readonly kind: 'applied'; readonly payment: StoredPayment | undefined; readonly held?: true }
  /** The provider must be asked again, because the payment is still being created. */
  | { readonly kind: 'deferred' }
  /** Without news nothing is changed. */
  | Exclude<NewsAnswer, { readonly kind: 'news' }>

/** The outcome of one decision. `again`: the payment has changed; read it and decide again. */
type TryOutcome = ApplyOutcome | 'again'

/**
 * Without `onCreating`, a payment that is being created is never changed. A function that serves
 * visible payments leaves it out, so that its bundle needs no access for such a commit.
 */
type ApplyOptions = {
  readonly readBefore?: StoredPayment | undefined
  readonly onCreating?: typeof creditCreatingPayment
}

/** Applies an answer, also to a payment in creation. */
export async function applyNews(
  deps: NewsDeps,
  answer: NewsAnswer,
  source: NewsSource,
  readBefore?: StoredPayment,
): Promise<ApplyOutcome> {
  const options = { readBefore, onCreating: creditCreatingPayment }
  return answer.kind === 'news' ? tryToApply(deps, answer.news, source, options) : answer
}

/** A payment changes status at most twice. More conflicts between read and write are a bug. */
const MAX_TRIES = 6

/**
 * Applies provider news to the payment that its reference names. Safe to repeat and to race.
 * `readBefore`, the payment before the provider was asked, saves a read if money came for a pending
 * payment: every write refuses another status. A closing status needs the captures remembered
 * before the answer, so the payment is then read again.
 */
async function tryToApply(
  deps: NewsDeps,
  news: ProviderNews,
  source: NewsSource,
  { readBefore, onCreating }: ApplyOptions,
): Promise<ApplyOutcome> {
  const isUsable =
    readBefore?.status === 'pending' &&
    readBefore.paymentId === paymentIdOf(news.reference) &&
    news.capture !== undefined
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const stored = isUsable && tried === 0 ? readBefore : await findNamedPayment(deps, news)
    const decision = decideOnNews(stored, news, deps.now())
    const mayBeGivenBack =
      'creating' in decision ||
      (decision.do === 'succeed' &&
        !(source === 'callback' && isFirstCallback(decision, deps.now())))
    const held = mayBeGivenBack ? await creditCondition(deps, decision.capture) : {}
    if (held === undefined) return { kind: 'applied', payment: stored, held: true }
    const outcome =
      'creating' in decision
        ? await (onCreating?.(deps, decision, news, source, held) ?? { kind: 'deferred' as const })
        : await applyDecision(deps, decision, stored, source, held)
    if (outcome !== 'again') return outcome
  }
  throw new Error('a payment kept changing while news about it was applied')
}

export async function findNamedPayment(deps: NewsDeps, news: { reference?: string | undefined }) {
  const paymentId = paymentIdOf(news.reference)
  return paymentId && findStoredPayment(deps, paymentId)
}

/** The same question may be answered later. */
export function isSilent(answer: { kind: string; reason?: string }) {
  return answer.kind === 'unanswered' && answer.reason !== 'refused'
}

const FIRST_CALLBACK_MS = 5 * MINUTE_MS

/**
 * The first callback of a payment's own request comes before its money can be held and given back,
 * so it saves the read. The provider's first retry comes after 15 minutes. A time of capture may
 * lack its zone, and then lies hours ahead.
 */
function isFirstCallback(
  { payment, capture }: Extract<Decision, { readonly do: 'succeed' }>,
  now: Timestamp,
) {
  const { paymentRequestId, capturedAt } = capture
  if (paymentRequestId !== payment.paymentRequestId || capturedAt === undefined) return false
  return Math.abs(msBetween(capturedAt, now)) < FIRST_CALLBACK_MS
}

async function applyDecision(
  deps: NewsDeps,
  decision: Exclude<Decision, { readonly creating: unknown }>,
  stored: StoredPayment | undefined,
  source: NewsSource,
  held: Steps<string>,
): Promise<TryOutcome> {
  switch (decision.do) {
    case 'nothing':
      return { kind: 'applied', payment: stored }
    case 'wait':
      return { kind: 'not_found', isEnded: true }
    case 'note': {
      const { payment } = decision
      await recordFinding(deps, { subject: payment.paymentId, cause: 'state_unknown', payment })
      return { kind: 'applied', payment: stored }
    }
    case 'succeed': {
      const { payment, capture } = decision
      const paidPayment = await succeedPayment(deps, payment, capture, source, held)
      // Another attempt was paid. The destination shown must not take money a second time.
      if (paidPayment && paidPayment.paymentRequestId !== capture.paymentRequestId) {
        await cancelOrphan(deps, paidPayment.paymentRequestId, paidPayment.paymentId)
      }
      return outcomeOrAgain(paidPayment)
    }
    case 'hold':
      await holdMoney(deps, heldMoney({ ...decision, payment: stored, now: deps.now() }))
      return { kind: 'applied', payment: stored, held: true }
    case 'close': {
      const { payment, money } = decision
      const item = money && heldMoney({ ...money, payment, now: deps.now() })
      return outcomeOrAgain(await closePayment(deps, payment, { ...decision, held: item, source }))
    }
    default:
      return assertNever(decision)
  }
}

function outcomeOrAgain(payment: StoredPayment | undefined): TryOutcome {
  return payment ? { kind: 'applied', payment } : 'again'
}

/** The provider's answer decides, not the caller. */
export async function applyProviderNews(
  deps: NewsDeps,
  subject: NewsSubject,
  source: NewsSource,
  readBefore?: StoredPayment,
) {
  return applyNews(deps, await askForNews(deps, subject), source, readBefore)
}

export async function applyNewsOfVisiblePayment(
  deps: NewsDeps,
  { paymentRequestId }: Payment,
  source: NewsSource,
) {
  const answer = await askForNews(deps, { paymentRequestId })
  return answer.kind === 'news' ? tryToApply(deps, answer.news, source, {}) : answer
}
