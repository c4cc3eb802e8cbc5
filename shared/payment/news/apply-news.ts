import { assertNever } from '../../errors.ts'
import { paymentIdOf } from '../../ids.ts'
import { heldMoney, recordSuspense } from '../../suspense/record-suspense.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
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
import { creditCreating, succeedPayment } from './succeed-payment.ts'

export type ApplyOutcome =
  /** The payment now agrees with the provider. `held`: it cannot be credited with the money, which is in suspense. */
  | { readonly kind: 'applied'; readonly payment: StoredPayment | undefined; readonly held?: true }
  /** To be asked again: the payment is still being created. */
  | { readonly kind: 'deferred' }
  /** There is no news: nothing is changed. */
  | Exclude<NewsAnswer, { readonly kind: 'news' }>

/** The outcome of one decision. `again`: the payment has changed; read it and decide again. */
type Step = ApplyOutcome | 'again'

export type OnCreating = (
  deps: NewsDeps,
  decision: Extract<Decision, { readonly creating: unknown }>,
  news: ProviderNews,
  source: NewsSource,
) => Promise<Step>

/** Without `onCreating`, a payment that is being created is never changed. */
type How = { readonly readBefore?: StoredPayment | undefined; readonly onCreating?: OnCreating }

/** A payment changes status at most twice. More conflicts between read and write are a bug. */
const MAX_TRIES = 6

/**
 * Applies provider news to the payment that its reference names. Safe to repeat and to race. `readBefore`, the payment
 * as read before the question, saves a read if it was pending and money came: every write refuses unless it still is.
 * A closing status needs the captures noted before the answer, so then the payment is read again.
 */
export async function applyNews(
  deps: NewsDeps,
  news: ProviderNews,
  source: NewsSource,
  { readBefore, onCreating }: How,
): Promise<ApplyOutcome> {
  const paymentId = paymentIdOf(news.reference)
  const isUsable =
    readBefore?.status === 'pending' &&
    readBefore.paymentId === paymentId &&
    news.capture !== undefined
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const known = isUsable && tried === 0 ? readBefore : undefined
    const stored = known ?? (paymentId && (await findStoredPayment(deps, paymentId)))
    const decision = decideOnNews(stored, news, deps.now())
    const step =
      'creating' in decision
        ? await (onCreating?.(deps, decision, news, source) ?? { kind: 'deferred' as const })
        : await applyDecision(deps, decision, stored, source)
    if (step !== 'again') return step
  }
  throw new Error('a payment kept changing while news about it was applied')
}

async function applyDecision(
  deps: NewsDeps,
  decision: Exclude<Decision, { readonly creating: unknown }>,
  stored: StoredPayment | undefined,
  source: NewsSource,
): Promise<Step> {
  switch (decision.do) {
    case 'nothing':
      return { kind: 'applied', payment: stored }
    case 'succeed': {
      const succeeded = await succeedPayment(deps, decision.payment, decision.capture, source)
      // Another attempt was paid. The destination shown must not take money a second time.
      if (succeeded && succeeded.paymentRequestId !== decision.capture.paymentRequestId) {
        await cancelOrphan(deps, succeeded.paymentRequestId, succeeded.paymentId)
      }
      return appliedOrAgain(succeeded)
    }
    case 'hold':
      await recordSuspense(deps, heldMoney({ ...decision, payment: stored, now: deps.now() }))
      return { kind: 'applied', payment: stored, held: true }
    case 'close': {
      const { payment, money } = decision
      const held = money && heldMoney({ ...money, payment, now: deps.now() })
      return appliedOrAgain(await closePayment(deps, payment, { ...decision, held, source }))
    }
    default:
      return assertNever(decision)
  }
}

function appliedOrAgain(payment: StoredPayment | undefined): Step {
  return payment ? { kind: 'applied', payment } : 'again'
}

/** Also credits or remembers money of a payment that is being created. */
export function applyProviderNews(
  deps: NewsDeps,
  subject: NewsSubject,
  source: NewsSource,
  readBefore?: StoredPayment,
): Promise<ApplyOutcome> {
  return askAndApply(deps, subject, source, { readBefore, onCreating: creditCreating })
}

/** No caller is believed: the provider is asked. */
async function askAndApply(deps: NewsDeps, subject: NewsSubject, source: NewsSource, how: How) {
  const answer = await askForNews(deps, subject)
  return answer.kind === 'news' ? applyNews(deps, answer.news, source, how) : answer
}

export function applyNewsOfVisible(
  deps: NewsDeps,
  { paymentRequestId }: Payment,
  source: NewsSource,
) {
  return askAndApply(deps, { paymentRequestId }, source, {})
}
