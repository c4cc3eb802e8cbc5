import type { Minor } from '../money.ts'
import { addMs, DAY_MS, later, msBetween, type Timestamp } from '../time.ts'
import { DISPUTE_STATES, type DisputeState, type Suspense } from './suspense.ts'

/** A state of a dispute, as its callback says it: no other answer of the provider names it. */
export type DisputeNews = {
  readonly kind: 'dispute'
  readonly disputeId: string
  /** Undefined: the event names no state that we know. */
  readonly state: DisputeState | undefined
  readonly reference: string | undefined
  readonly providerPaymentId: string | undefined
  /** The disputed amount in IDR. */
  readonly amountMinor: Minor | undefined
  readonly answerBy: Timestamp | undefined
  readonly saidAt: Timestamp | undefined
  readonly isReminder: boolean
}

/** A dispute that names no day can be answered for this time (QRIS, the shortest that is known). */
const ANSWER_MS = 7 * DAY_MS
/** After this time without an end the provider says nothing more. */
const CLOSES_MS = 90 * DAY_MS

/** The case of a dispute, open until it is won, lost, or closed by an operator. */
export function disputeCase(
  news: DisputeNews,
  payment: Pick<Suspense, 'paymentId' | 'clientId'> | undefined,
  now: Timestamp,
): Suspense {
  return {
    suspenseId: news.disputeId,
    kind: 'case',
    cause: 'dispute',
    amountMinor: news.amountMinor,
    paymentId: payment?.paymentId,
    clientId: payment?.clientId,
    providerPaymentId: news.providerPaymentId,
    createdAt: now,
    ...saidBy(news, now),
    ...endOf(news),
  }
}

/**
 * What news changes of a case. A dispute that must be answered again is open again; else an
 * operator's resolution stays.
 */
export function changedCase(item: Suspense, news: DisputeNews): Suspense {
  const answerBy = news.answerBy ?? item.answerBy
  if (news.isReminder) return { ...item, answerBy }
  const said = { ...saidBy(news, item.createdAt), answerBy }
  const isByOperator = ['answered', 'accepted', 'explained'].includes(item.resolution ?? '')
  if (isByOperator && news.state !== 'action_required') return { ...item, ...said }
  return { ...item, ...said, ...endOf(news) }
}

/** Operators look at a dispute whose state is not known. */
function saidBy(
  { state = 'action_required', saidAt, answerBy }: DisputeNews,
  createdAt: Timestamp,
) {
  return { state, saidAt, answerBy: answerBy ?? usualAnswerBy(createdAt) }
}

/** Until when a dispute that was raised at this time can be answered, as far as we know. */
export function usualAnswerBy(raisedAt: Timestamp): Timestamp {
  return addMs(raisedAt, ANSWER_MS)
}

export function endOf({ state }: Pick<Suspense, 'state'>) {
  return state === 'won' || state === 'lost'
    ? ({ status: 'resolved', resolution: state } as const)
    : ({ status: 'open', resolution: undefined } as const)
}

/** What the payment shows of its dispute. */
export function shownDispute({ suspenseId: caseId, state, amountMinor, answerBy }: Suspense) {
  const amount = amountMinor !== undefined && { amountMinor }
  return state && { caseId, state, ...amount, ...(answerBy !== undefined && { answerBy }) }
}

/**
 * By the provider's clock; without one, and at the same time, by the order of the states. News
 * without a known state is never newer. A reminder can only change the day of a dispute that waits.
 */
export function isNewer(news: DisputeNews, item: Suspense): boolean {
  const waits = item.status === 'open' && item.state === 'action_required'
  if (news.isReminder) return waits && ![undefined, item.answerBy].includes(news.answerBy)
  if (news.state === undefined) return false
  const rank =
    DISPUTE_STATES.indexOf(news.state) - DISPUTE_STATES.findIndex((one) => one === item.state)
  if (news.saidAt === undefined || item.saidAt === undefined || news.saidAt === item.saidAt)
    return rank > 0
  return news.saidAt > item.saidAt
}

/**
 * When an open dispute is told again: at half its time, a day before its end, and at last to close
 * it. Undefined for any other item.
 */
export function nextAlertAt(item: Suspense, now: Timestamp): Timestamp | undefined {
  if (!isOpenDispute(item) || item.answerBy === undefined) return undefined
  return remindersOf(item).find((time) => time > now) ?? closesAt(item)
}

function remindersOf({ createdAt, answerBy, state }: Suspense) {
  if (state !== 'action_required' || answerBy === undefined) return []
  const half = addMs(createdAt, Math.floor(msBetween(createdAt, answerBy) / 2))
  return [half, addMs(answerBy, -DAY_MS)].filter((time) => time > createdAt).toSorted()
}

/** Which reminder of an open dispute due work tells now; '' for its first alert. */
export function reminderWords(item: Suspense, now: Timestamp): string {
  const reminders = isOpenDispute(item) ? remindersOf(item) : []
  const number = reminders.filter((time) => time <= now).length
  return number === 0 ? '' : `Reminder ${number} of ${reminders.length}. `
}

/** Nothing was heard of the dispute for ninety days after its end. */
export function isLapsed(item: Suspense, now: Timestamp): boolean {
  return isOpenDispute(item) && now >= closesAt(item)
}

/** No alert of the item is due later. */
export function lastAlertAt(item: Suspense, now: Timestamp): Timestamp {
  return isOpenDispute(item) ? closesAt(item) : addMs(now, DAY_MS)
}

function closesAt({ createdAt, answerBy }: Suspense) {
  return addMs(later(createdAt, answerBy ?? createdAt), CLOSES_MS)
}

function isOpenDispute({ cause, kind, status }: Suspense) {
  return kind === 'case' && cause === 'dispute' && status === 'open'
}
