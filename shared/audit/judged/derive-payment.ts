import { registeredClients } from '../../client/client-register.ts'
import type { StoreDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { figuresOf } from '../../journal/entry.ts'
import { hasMoved, type Movement } from '../../journal/payment-money.ts'
import { netOf, ZERO } from '../../money.ts'
import { estimatePricing, type Pricing } from '../../payment/new-payment.ts'
import type { Payment } from '../../payment/payment.ts'
import { isForeign } from '../../payment/payment-store.ts'
import { isPossibleFee } from '../../posting/post-payments.ts'
import { replayMovements } from '../../posting/reversal-after.ts'
import { UPSTREAM } from '../../table/upstream.ts'
import {
  addMs,
  DAY_MS,
  END_OF_TIME,
  earlier,
  HOUR_MS,
  later,
  MINUTE_MS,
  type Timestamp,
} from '../../time.ts'
import { brokenRules, compare, tryToMake } from '../../verdict/difference.ts'

/**
 * The payment as its facts determine it: its prices, its state and its money are made again. Throws
 * when its figures form no payment.
 */
export function derivedPayment(payment: Payment, clientId: ClientId): Payment {
  const { status, notionalMinor, postedAt, ownRow, lateRowAt, finalFee, paidAt } = payment
  const estimate = estimatePricing(payment, payment.createdAt)
  const isPaid = status === 'succeeded'
  const isOwnFee = ownRow !== undefined && ownRow.contradicts !== true
  const isByRow = isPaid && postedAt !== undefined && isOwnFee && lateRowAt === undefined
  const isInvoiced = isPaid && finalFee?.invoiced === true
  const isFinalFee = isByRow && !isInvoiced && isPossibleFee(estimate, payment.providerFeeMinor)
  const { providerFeeMinor } = isFinalFee ? payment : estimate
  const statusWithoutRow = isPaid && postedAt !== undefined ? 'assumed' : 'estimated'
  const [first, end] = payment.transitions
  const lastStatus = { status, at: paidAt ?? end?.at ?? payment.createdAt }
  return {
    ...payment,
    clientId,
    provider: UPSTREAM,
    attempt: payment.providerAttempts.at(-1)?.number ?? payment.attempt,
    providerFeeMinor,
    markupMinor: estimate.markupMinor,
    netMinor: netOf(notionalMinor, providerFeeMinor, estimate.markupMinor),
    feeStatus: isInvoiced || isByRow ? 'actual' : statusWithoutRow,
    finalFee:
      isInvoiced && finalFee
        ? { ...finalFee, status: 'actual', feeMinor: estimate.providerFeeMinor }
        : undefined,
    transitions:
      first === undefined
        ? []
        : status === 'pending' || end === undefined
          ? [first]
          : [first, { ...end, ...lastStatus }],
    failureReason: status === 'failed' ? payment.failureReason : undefined,
    dueAt: status === 'pending' ? payment.dueAt : undefined,
    ...(isPaid ? moneyOfPaid(payment, providerFeeMinor, estimate) : NO_MONEY),
  }
}

const NO_MONEY = {
  paidAt: undefined,
  capture: undefined,
  providerSettledAt: undefined,
  openAt: undefined,
  postedAt: undefined,
  lateRowAt: undefined,
  ownRow: undefined,
  moneyVersion: undefined,
  takenBackMinor: ZERO,
  isVoid: undefined,
  voidedOpen: undefined,
  reversal: undefined,
  movements: [],
} satisfies Partial<Payment>

/** Applies every movement again, each once. */
function moneyOfPaid(
  payment: Payment,
  providerFeeMinor: Pricing['providerFeeMinor'],
  { markupMinor }: Pricing,
): Partial<Payment> {
  const { notionalMinor, paidAt, postedAt, lateRowAt, voidedOpen } = payment
  const price = figuresOf(notionalMinor, providerFeeMinor, markupMinor)
  const { money, reversal } = replayMovements(payment, price)
  const movements = payment.movements
    .filter((movement, at) => !hasMoved(payment.movements.slice(0, at), movement))
    .map((movement) => withTimeOfEntry(movement, postedAt))
  const isPosted = postedAt !== undefined && voidedOpen !== true
  // How often the payment's money was written: posted, moved, and the late row booked.
  const version = movements.length + (isPosted ? 1 : 0) + (lateRowAt === undefined ? 0 : 1)
  return {
    openAt: postedAt === undefined ? paidAt : undefined,
    moneyVersion: version || undefined,
    takenBackMinor: money.takenBackMinor,
    isVoid: money.isVoid ? true : undefined,
    reversal,
    movements,
  }
}

/** While the payment is open its movements have no entries. */
function withTimeOfEntry(movement: Movement, postedAt: Timestamp | undefined): Movement {
  const { postedAt: own, ...others } = movement
  return postedAt === undefined ? others : { ...others, postedAt: own ?? postedAt }
}

/** Undefined without a tariff, as for a bank or an invalid amount. */
export function estimateOf(payment: Payment) {
  return tryToMake(() => estimatePricing(payment, payment.createdAt))
}

/**
 * Due work checks a payment by its expiry. A claim moves the check by minutes, or by a day if the
 * payment never expires.
 */
const FARTHEST_CHECK_MS = 2 * HOUR_MS
/** Our clocks differ a little; the provider's times differ by more. */
const SKEW_MS = MINUTE_MS

/** What a payment's own facts must be like: what it must have, and which times are possible. */
export function paymentRules(payment: Payment, now: Timestamp) {
  const { paymentId: id, status, transitions, capture } = payment
  const isDue = status === 'pending'
  return brokenRules('payment', id, [
    ...providerAttemptRules(payment, now),
    ['ended_by', isDue || transitions.length > 1, 'a source', undefined],
    ['due_at', !isDue || payment.dueAt !== undefined, 'a time', undefined],
    ['capture', status !== 'succeeded' || capture !== undefined, 'a capture', undefined],
    ...timesOf(payment, now).map(([name, time, from, to, rule]) => {
      return [name, time === undefined || (time >= from && time <= to), rule, time] as const
    }),
  ])
}

/**
 * Attempts begin one after another. The last one shows the payment, in the same process, unless the
 * customer paid before that: only such a payment has no expiry.
 */
function providerAttemptRules({ providerAttempts, createdAt, expiresAt }: Payment, now: Timestamp) {
  const isShownByLast = expiresAt !== undefined
  return providerAttempts.map(({ startedAt }, at) => {
    const isLast = isShownByLast && at === providerAttempts.length - 1
    const nextAt = providerAttempts[at + 1]?.startedAt ?? now
    const from = isLast ? addMs(createdAt, -DAY_MS) : ''
    const to = isLast ? createdAt : addMs(nextAt, SKEW_MS)
    const isPossible = startedAt >= from && startedAt <= to
    const rule = 'one after another, before it was shown'
    return ['provider_attempts', isPossible, rule, startedAt] as const
  })
}

function timesOf(payment: Payment, now: Timestamp) {
  const { createdAt, expiresAt, cancelRequestedAt, expiryStartedAt } = payment
  const { providerSettledAt, dueAt, finalFee, paidAt, providerAttempts } = payment
  const endedAt = payment.status === 'pending' ? now : (payment.transitions.at(-1)?.at ?? now)
  const [earliestAt, latestAt, latestEndAt] = [
    addMs(createdAt, -SKEW_MS),
    addMs(now, SKEW_MS),
    addMs(endedAt, SKEW_MS),
  ]
  const [expiredFrom, paidFrom] = [
    addMs(expiresAt ?? now, -SKEW_MS),
    addMs(paidAt ?? createdAt, -SKEW_MS),
  ]
  // A first attempt may be paid and settled days before its payment is shown.
  const begunAt = earlier(providerAttempts[0]?.startedAt ?? createdAt, createdAt)
  const settledFrom = paidAt === undefined ? END_OF_TIME : addMs(begunAt, -DAY_MS)
  const lastCheckAt = addMs(later(expiresAt ?? addMs(now, DAY_MS), now), FARTHEST_CHECK_MS)
  return [
    ['listed_at', createdAt, '', latestAt, 'a past time'],
    ['ended_at', endedAt, earliestAt, latestAt, 'in order, and not in the future'],
    [
      'expires_at',
      expiresAt,
      createdAt,
      addMs(createdAt, 366 * DAY_MS),
      'within a year of its creation',
    ],
    ['cancel_requested_at', cancelRequestedAt, earliestAt, latestEndAt, 'while it was pending'],
    [
      'expiry_started_at',
      expiryStartedAt,
      expiredFrom,
      latestEndAt,
      'past its time, while it was pending',
    ],
    [
      'provider_settled_at',
      providerSettledAt,
      settledFrom,
      addMs(now, DAY_MS),
      'after it was paid, and not in the future',
    ],
    ['final_fee', finalFee?.at, paidFrom, latestAt, 'after it was paid, and not in the future'],
    ['due_at', dueAt, earliestAt, lastCheckAt, 'by its expiry'],
  ] as const
}

/**
 * A payment's id is derived from its client and its key's digest. A difference names the client
 * that the id belongs to, if one client fits.
 */
export async function judgeOwners(deps: StoreDeps, payments: readonly Payment[]) {
  const foreignPayments = payments.filter(isForeign)
  const clientIds: ClientId[] = []
  if (foreignPayments.length > 0)
    for await (const page of registeredClients(deps, { limit: 1_000 }))
      clientIds.push(...page.clients.map(({ clientId }) => clientId))
  return foreignPayments.flatMap((payment) => auditOwner(payment, clientIds))
}

function auditOwner(payment: Payment, clientIds: readonly ClientId[]) {
  const { paymentId, clientId, keyDigest } = payment
  const [owner, ...others] = clientIds.filter((id) => !isForeign({ ...payment, clientId: id }))
  return owner !== undefined && others.length === 0
    ? compare('payment.client_id', paymentId, owner, clientId)
    : compare('payment.key_digest', paymentId, 'the digest of its id', keyDigest)
}
