import { assertNever } from '../../errors.ts'
import { paymentIdOf } from '../../ids.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import { heldMoney, recordSuspense } from '../../suspense/record-suspense.ts'
import type { MoneyCause } from '../../suspense/suspense.ts'
import type { Timestamp } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { isPastItsTime } from '../channel/channel-timing.ts'
import { isUnderLease } from '../creating-store.ts'
import type { CreatingPayment, NewsSource, Payment, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { askForNews, type NewsAnswer, type NewsDeps, type NewsSubject, type ProviderNews } from './ask-for-news.ts'
import { closePayment, type End } from './close-payment.ts'
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

/** No caller is believed: the provider is asked. */
const askAndApply = async (deps: NewsDeps, subject: NewsSubject, source: NewsSource, how: How) => {
  const answer = await askForNews(deps, subject)
  return answer.kind === 'news' ? applyNews(deps, answer.news, source, how) : answer
}

/** Also credits or remembers money of a payment that is being created. */
export const applyProviderNews = (
  deps: NewsDeps,
  subject: NewsSubject,
  source: NewsSource,
  readBefore?: StoredPayment,
): Promise<ApplyOutcome> => askAndApply(deps, subject, source, { readBefore, onCreating: creditCreating })

export const applyNewsOfVisible = (deps: NewsDeps, { paymentRequestId }: Payment, source: NewsSource) =>
  askAndApply(deps, { paymentRequestId }, source, {})

/** A payment changes status at most twice. More conflicts between read and write are a bug. */
const MAX_TRIES = 6

/**
 * Applies provider news to the payment that its reference names. Safe to repeat and to race. `readBefore`, the payment
 * as read before the question, saves a read if it was pending and money came: every write refuses unless it still is.
 * A closing status needs the captures noted before the answer, so then the payment is read again.
 */
export const applyNews = async (
  deps: NewsDeps,
  news: ProviderNews,
  source: NewsSource,
  { readBefore, onCreating }: How,
): Promise<ApplyOutcome> => {
  const paymentId = paymentIdOf(news.reference)
  const isUsable = readBefore?.status === 'pending' && readBefore.paymentId === paymentId && news.capture !== undefined
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

const applyDecision = async (
  deps: NewsDeps,
  decision: Exclude<Decision, { readonly creating: unknown }>,
  stored: StoredPayment | undefined,
  source: NewsSource,
): Promise<Step> => {
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

const appliedOrAgain = (payment: StoredPayment | undefined): Step => (payment ? { kind: 'applied', payment } : 'again')

type Held = { readonly capture: ProviderPayment; readonly cause: MoneyCause }

/** What provider news means for a payment in its present state. */
type Decision =
  | { readonly do: 'nothing' }
  | { readonly do: 'succeed'; readonly payment: Payment; readonly capture: ProviderPayment }
  | {
      readonly do: 'succeed_creating' | 'remember'
      readonly creating: CreatingPayment
      readonly capture: ProviderPayment
    }
  | (Held & { readonly do: 'hold' })
  /** `money`: a wrong amount, which fails the payment and is held. */
  | (Pick<End, 'status' | 'failureReason'> & { readonly do: 'close'; readonly payment: Payment; readonly money?: Held })

const NOTHING: Decision = { do: 'nothing' }

/** Why a capture differs from what was asked for; undefined when it matches. */
const mismatch = (capture: ProviderPayment, notionalMinor: number): MoneyCause | undefined => {
  if (capture.currency !== 'IDR') return 'wrong_currency'
  return capture.capturedMinor === notionalMinor ? undefined : 'wrong_amount'
}

const onCapture = (payment: StoredPayment | undefined, capture: ProviderPayment, now: Timestamp): Decision => {
  if (payment === undefined) return { do: 'hold', capture, cause: 'unknown_reference' }
  if (payment.status === 'creating') {
    const wrong = mismatch(capture, payment.request.notionalMinor)
    if (wrong !== undefined) return { do: 'hold', capture, cause: wrong }
    return { do: isUnderLease(payment, now) ? 'remember' : 'succeed_creating', creating: payment, capture }
  }
  if (payment.creditedProviderPaymentId === capture.providerPaymentId) return NOTHING
  if (payment.status === 'succeeded') return { do: 'hold', capture, cause: 'second_capture' }
  const cause = mismatch(capture, payment.notionalMinor)
  if (payment.status !== 'pending') return { do: 'hold', capture, cause: cause ?? 'payment_not_pending' }
  if (cause === undefined) return { do: 'succeed', payment, capture }
  // Only the request whose destination was shown can close the payment. Money of another attempt is held.
  if (capture.paymentRequestId !== payment.paymentRequestId) return { do: 'hold', capture, cause }
  const failureReason = cause === 'wrong_amount' ? cause : 'other'
  return { do: 'close', payment, status: 'failed', failureReason, money: { capture, cause } }
}

export const decideOnNews = (payment: StoredPayment | undefined, news: ProviderNews, now: Timestamp): Decision => {
  const { capture, paymentRequestId, requestStatus: status, failureReason } = news
  if (capture) return onCapture(payment, capture, now)
  if (payment?.status !== 'pending' || paymentRequestId !== payment.paymentRequestId) return NOTHING
  switch (status) {
    case 'failed':
      return { do: 'close', payment, status, failureReason }
    case 'expired':
      return { do: 'close', payment, status }
    case 'cancelled': {
      // By the client, by our expiry, or by someone at the provider (design section 4). After our expiry has begun, the
      // provider may be reporting our own cancel.
      const isByClient = payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined
      const closedAs = isByClient ? 'cancelled' : isPastItsTime(payment, now) ? 'expired' : 'failed'
      return { do: 'close', payment, status: closedAs, failureReason: 'cancelled_upstream' }
    }
    // `succeeded` without a capture is not money yet.
    case 'succeeded':
    case 'open':
    case undefined:
      return NOTHING
  }
}
