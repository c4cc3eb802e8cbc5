import { type ClientId, slotOf } from '../../ids.ts'
import { ZERO } from '../../money.ts'
import { estimatePricing, type Pricing } from '../../payment/new-payment.ts'
import type { Payment, Reversal } from '../../payment/payment.ts'
import { replayMovements } from '../../posting/moved-payment.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import type { Item } from '../../table/attributes.ts'
import { ownerOf } from '../../table/keys.ts'
import { WORK_SLOTS } from '../../table/schema.ts'
import { addMs, DAY_MS, earlier, HOUR_MS, later, MINUTE_MS, type Timestamp } from '../../time.ts'
import { type Difference, differs, shown, when } from '../../verdict/difference.ts'

/** The fee by the tariff in force; undefined when it has none, as for a bank or an invalid amount. */
export const estimateOf = (payment: Payment): Pricing | undefined => {
  try {
    return estimatePricing(payment, payment.createdAt)
  } catch {
    return undefined
  }
}

const auditAmounts = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, notionalMinor, providerFeeMinor, markupMinor, finalFee } = payment
  const estimate = estimateOf(payment)
  const final = payment.status === 'succeeded' ? finalFee : undefined
  return [
    ...when(
      estimate === undefined,
      differs('payment.notional_minor', id, 'an amount and channel with a tariff', notionalMinor),
    ),
    // Plain arithmetic: a tampered amount can exceed the range of money, and must be named anyway.
    ...differs('payment.net_minor', id, notionalMinor - providerFeeMinor - markupMinor, payment.netMinor),
    ...(estimate ? differs('payment.markup_minor', id, estimate.markupMinor, markupMinor) : []),
    ...differs('payment.fee_status', id, final?.status ?? 'estimated', payment.feeStatus),
    ...differs('payment.provider_fee_minor', id, final?.feeMinor ?? estimate?.providerFeeMinor, providerFeeMinor),
    ...(final?.status === 'assumed' && estimate
      ? differs('payment.final_fee', id, estimate.providerFeeMinor, final.feeMinor)
      : []),
    ...when(
      finalFee !== undefined && final === undefined,
      differs('payment.final_fee', id, 'none before success', finalFee?.at),
    ),
  ]
}

/** Its owner and its index attributes: a wrong one sends money to another ledger, or hides it. */
const auditPlace = (payment: Payment, item: Item, clientId: ClientId): readonly Difference[] => {
  const { paymentId: id, status } = payment
  const due = status === 'pending'
  return [
    ...differs('payment.client_id', id, clientId, payment.clientId),
    ...differs('payment.owner', id, ownerOf(clientId, payment.part), shown(item['owner'])),
    ...differs('payment.work', id, due ? 'payment' : undefined, shown(item['work'])),
    ...differs('payment.slot', id, due ? slotOf(id, WORK_SLOTS.payment) : undefined, shown(item['slot'])),
  ]
}

const auditHistory = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, transitions, status } = payment
  const last = transitions.at(-1)
  const paid = status === 'succeeded'
  return [
    ...differs('payment.status', id, last?.status, status),
    ...differs('payment.paid_at', id, paid ? last?.at : undefined, payment.paidAt),
    ...differs('payment.transitions', id, status === 'pending' ? 1 : 2, transitions.length),
    ...differs(
      'payment.credited_provider_payment_id',
      id,
      paid ? 1 : 0,
      payment.creditedProviderPaymentId === undefined ? 0 : 1,
    ),
    ...differs('payment.attempt', id, payment.providerAttempts.at(-1)?.number, payment.attempt),
  ]
}

/** Due work checks it at its expiry at the latest. A claim moves it on by minutes, and daily what never expires. */
const FARTHEST_CHECK_MS = 2 * HOUR_MS
const lastCheckOf = ({ expiresAt }: Payment, now: Timestamp): Timestamp =>
  addMs(later(expiresAt ?? addMs(now, DAY_MS), now), FARTHEST_CHECK_MS)
const LONGEST_EXPIRY_MS = 366 * DAY_MS
/** Clocks differ a little, the provider's times by more. */
const SKEW_MS = MINUTE_MS

/** A first attempt may be paid and settled days before its payment is shown. */
const begunAt = ({ createdAt, providerAttempts: [first] }: Payment): Timestamp =>
  earlier(first?.startedAt ?? createdAt, createdAt)

/** Times that no other item repeats: they must be possible. */
const auditPlausibility = (payment: Payment, now: Timestamp): readonly Difference[] => {
  const { paymentId: id, createdAt, expiresAt, cancelRequestedAt, expiryStartedAt } = payment
  const { providerSettledAt, dueAt, finalFee, paidAt } = payment
  const endedAt = payment.status === 'pending' ? now : (payment.transitions.at(-1)?.at ?? now)
  const outside = (time: Timestamp | undefined, from: Timestamp, to: Timestamp) =>
    time !== undefined && (time < from || time > to)
  // Two times of one payment may come from two machines.
  const early = addMs(createdAt, -SKEW_MS)
  const soon = addMs(now, SKEW_MS)
  return [
    ...when(createdAt > soon, differs('payment.created_at', id, 'a time that has come', createdAt)),
    ...when(outside(endedAt, early, soon), differs('payment.transitions', id, 'in order, and not to come', endedAt)),
    ...when(
      outside(expiresAt, createdAt, addMs(createdAt, LONGEST_EXPIRY_MS)),
      differs('payment.expires_at', id, 'within a year of its creation', expiresAt),
    ),
    ...when(
      outside(cancelRequestedAt, early, addMs(endedAt, SKEW_MS)),
      differs('payment.cancel_requested_at', id, 'while it was pending', cancelRequestedAt),
    ),
    ...when(
      outside(expiryStartedAt, addMs(expiresAt ?? now, -SKEW_MS), addMs(endedAt, SKEW_MS)),
      differs('payment.expiry_started_at', id, 'past its time, while it was pending', expiryStartedAt),
    ),
    ...when(
      providerSettledAt !== undefined &&
        (paidAt === undefined || outside(providerSettledAt, addMs(begunAt(payment), -DAY_MS), addMs(now, DAY_MS))),
      differs('payment.provider_settled_at', id, 'after it was paid, and not to come', providerSettledAt),
    ),
    ...when(
      outside(finalFee?.at, addMs(paidAt ?? createdAt, -SKEW_MS), soon),
      differs('payment.final_fee', id, 'after it was paid, and not to come', finalFee?.at),
    ),
    ...when(outside(dueAt, early, lastCheckOf(payment, now)), differs('payment.due_at', id, 'by its expiry', dueAt)),
  ]
}

/** All checks of one payment by itself, in one snapshot. */
export const auditPayment = (
  payment: Payment,
  item: Item,
  about: { readonly clientId: ClientId; readonly now: Timestamp },
): readonly Difference[] => [
  ...auditAmounts(payment),
  ...auditPlace(payment, item, about.clientId),
  ...auditHistory(payment),
  ...auditPlausibility(payment, about.now),
]

/** How often the payment's money was written: posted, moved, and its late row booked. */
const versionOf = ({ postedAt, voidedOpen, movements, lateRowAt }: Payment): number | undefined => {
  const isPosted = postedAt !== undefined && voidedOpen !== true
  return movements.length + (isPosted ? 1 : 0) + (lateRowAt === undefined ? 0 : 1) || undefined
}

const auditReversal = (payment: Payment, expected: Reversal | undefined): readonly Difference[] => {
  const { paymentId: id, reversal } = payment
  return [
    ...differs('payment.reversal.amount_minor', id, expected?.amountMinor, reversal?.amountMinor),
    ...differs('payment.reversal.at', id, expected?.at, reversal?.at),
    ...differs('payment.reversal.undone_at', id, expected?.undoneAt, reversal?.undoneAt),
  ]
}

/** Applies every noted row again: what it took, what is left of it, the sum, and the public reversal. */
const auditMovements = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, movements } = payment
  const { money, reversal } = replayMovements(payment, moneyOf(payment).price)
  return [
    ...differs('payment.taken_back_minor', id, money.takenBackMinor, payment.takenBackMinor),
    ...differs('payment.is_void', id, String(money.isVoid), String(payment.isVoid === true)),
    ...differs('payment.movements', id, money.movements.length, movements.length),
    ...money.movements.flatMap((expected, at) => [
      ...differs('payment.movements.took_minor', id, expected.tookMinor, movements[at]?.tookMinor),
      ...differs('payment.movements.left_minor', id, expected.leftMinor, movements[at]?.leftMinor),
    ]),
    ...auditReversal(payment, reversal),
  ]
}

/** A payment's money: open or posted, what moved it, and how often. An unpaid payment has none. */
export const auditMoney = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, status, openAt, postedAt, paidAt, takenBackMinor, movements } = payment
  if (status !== 'succeeded') {
    const found = postedAt ?? openAt
    return [
      ...when(found !== undefined, differs('payment.posted_at', id, 'never paid', found)),
      ...differs('payment.taken_back_minor', id, ZERO, takenBackMinor),
      ...differs('payment.movements', id, 0, movements.length),
    ]
  }
  const own = [
    ...differs('payment.open_at', id, postedAt === undefined ? paidAt : undefined, openAt),
    ...differs('payment.money_version', id, versionOf(payment), payment.moneyVersion),
  ]
  try {
    return [...own, ...auditMovements(payment)]
  } catch {
    return [...own, ...differs('payment.movements', id, 'figures that add up', 'otherwise')]
  }
}
