import { type ClientId, slotOf } from '../../ids.ts'
import { ZERO } from '../../money.ts'
import { estimatePricing, type Pricing } from '../../payment/new-payment.ts'
import type { Payment } from '../../payment/payment.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import { replayMovements } from '../../posting/reversal-after.ts'
import type { Item } from '../../table/attributes.ts'
import { ownerOf } from '../../table/keys.ts'
import { WORK_SLOTS } from '../../table/schema.ts'
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
import {
  compared,
  type Difference,
  differs,
  madeOf,
  shown,
  when,
} from '../../verdict/difference.ts'

/** All checks of one payment by itself, in one snapshot. */
export function auditPayment(
  payment: Payment,
  item: Item,
  { clientId, now }: { readonly clientId: ClientId; readonly now: Timestamp },
): readonly Difference[] {
  const { paymentId: id, status, transitions } = payment
  const last = transitions.at(-1)
  const [due, paid] = [status === 'pending', status === 'succeeded']
  return [
    ...auditAmounts(payment),
    ...compared('payment', id, [
      // A wrong owner or index attribute sends money to another ledger, or hides the payment.
      ['client_id', clientId, payment.clientId],
      ['owner', ownerOf(clientId, payment.part), shown(item['owner'])],
      ['work', due ? 'payment' : undefined, shown(item['work'])],
      ['slot', due ? slotOf(id, WORK_SLOTS.payment) : undefined, shown(item['slot'])],
      ['status', last?.status, status],
      ['paid_at', paid ? last?.at : undefined, payment.paidAt],
      ['transitions', due ? 1 : 2, transitions.length],
      [
        'credited_provider_payment_id',
        paid ? 1 : 0,
        payment.creditedProviderPaymentId === undefined ? 0 : 1,
      ],
      ['attempt', payment.providerAttempts.at(-1)?.number, payment.attempt],
    ]),
    ...auditPlausibility(payment, now),
  ]
}

function auditAmounts(payment: Payment): readonly Difference[] {
  const { paymentId: id, notionalMinor, providerFeeMinor, markupMinor, finalFee } = payment
  const estimate = estimateOf(payment)
  const final = payment.status === 'succeeded' ? finalFee : undefined
  const assumed = final?.status === 'assumed' ? final.feeMinor : undefined
  const feeTooEarly = final ? undefined : finalFee?.at
  return compared('payment', id, [
    [
      'notional_minor',
      estimate ? notionalMinor : 'an amount and channel with a tariff',
      notionalMinor,
    ],
    // Plain arithmetic: a tampered amount can exceed the range of money, and must be named anyway.
    ['net_minor', notionalMinor - providerFeeMinor - markupMinor, payment.netMinor],
    ['markup_minor', estimate?.markupMinor ?? markupMinor, markupMinor],
    ['fee_status', final?.status ?? 'estimated', payment.feeStatus],
    ['provider_fee_minor', final?.feeMinor ?? estimate?.providerFeeMinor, providerFeeMinor],
    [
      'final_fee',
      assumed === undefined ? undefined : (estimate?.providerFeeMinor ?? assumed),
      assumed,
    ],
    ['final_fee', feeTooEarly && 'none before success', feeTooEarly],
  ])
}

/** The fee by the tariff in force; undefined when it has none, as for a bank or an invalid amount. */
export function estimateOf(payment: Payment): Pricing | undefined {
  return madeOf(() => estimatePricing(payment, payment.createdAt))
}

/** Due work checks it at its expiry at the latest. A claim moves it on by minutes, and daily what never expires. */
const FARTHEST_CHECK_MS = 2 * HOUR_MS
/** Clocks differ a little, the provider's times by more. */
const SKEW_MS = MINUTE_MS

/** Times that no other item repeats: they must be possible. */
function auditPlausibility(payment: Payment, now: Timestamp): readonly Difference[] {
  const { paymentId: id, createdAt, expiresAt, cancelRequestedAt, expiryStartedAt } = payment
  const { providerSettledAt, dueAt, finalFee, paidAt, providerAttempts } = payment
  const endedAt = payment.status === 'pending' ? now : (payment.transitions.at(-1)?.at ?? now)
  // Two times of one payment may come from two machines.
  const [early, soon, ended] = [
    addMs(createdAt, -SKEW_MS),
    addMs(now, SKEW_MS),
    addMs(endedAt, SKEW_MS),
  ]
  const [expired, paid] = [addMs(expiresAt ?? now, -SKEW_MS), addMs(paidAt ?? createdAt, -SKEW_MS)]
  // A first attempt may be paid and settled days before its payment is shown.
  const begunAt = earlier(providerAttempts[0]?.startedAt ?? createdAt, createdAt)
  const settled = paidAt === undefined ? END_OF_TIME : addMs(begunAt, -DAY_MS)
  const lastCheckAt = addMs(later(expiresAt ?? addMs(now, DAY_MS), now), FARTHEST_CHECK_MS)
  const spans = [
    ['created_at', createdAt, '', soon, 'a past time'],
    ['transitions', endedAt, early, soon, 'in order, and not in the future'],
    [
      'expires_at',
      expiresAt,
      createdAt,
      addMs(createdAt, 366 * DAY_MS),
      'within a year of its creation',
    ],
    ['cancel_requested_at', cancelRequestedAt, early, ended, 'while it was pending'],
    ['expiry_started_at', expiryStartedAt, expired, ended, 'past its time, while it was pending'],
    [
      'provider_settled_at',
      providerSettledAt,
      settled,
      addMs(now, DAY_MS),
      'after it was paid, and not in the future',
    ],
    ['final_fee', finalFee?.at, paid, soon, 'after it was paid, and not in the future'],
    ['due_at', dueAt, early, lastCheckAt, 'by its expiry'],
  ] as const
  return spans.flatMap(([name, time, from, to, rule]) =>
    when(
      time !== undefined && (time < from || time > to),
      differs(`payment.${name}`, id, rule, time),
    ),
  )
}

/** A payment's money: open or posted, what moved it, and how often. An unpaid payment has none. */
export function auditMoney(payment: Payment): readonly Difference[] {
  const {
    paymentId: id,
    status,
    openAt,
    postedAt,
    paidAt,
    takenBackMinor,
    movements,
    lateRowAt,
  } = payment
  if (status !== 'succeeded') {
    const found = postedAt ?? openAt
    return compared('payment', id, [
      ['posted_at', found && 'never paid', found],
      ['taken_back_minor', ZERO, takenBackMinor],
      ['movements', 0, movements.length],
    ])
  }
  const isPosted = postedAt !== undefined && payment.voidedOpen !== true
  // How often its money was written: posted, moved, and its late row booked.
  const version = movements.length + (isPosted ? 1 : 0) + (lateRowAt === undefined ? 0 : 1)
  // Every noted row is applied again: the sum that they took back, and the public reversal.
  const moved = madeOf(() => {
    const { money, reversal } = replayMovements(payment, moneyOf(payment).price)
    return compared('payment', id, [
      ['taken_back_minor', money.takenBackMinor, takenBackMinor],
      ['is_void', String(money.isVoid), String(payment.isVoid === true)],
      ['movements', money.applied.length, movements.length],
      ['reversal.amount_minor', reversal?.amountMinor, payment.reversal?.amountMinor],
      ['reversal.at', reversal?.at, payment.reversal?.at],
      ['reversal.undone_at', reversal?.undoneAt, payment.reversal?.undoneAt],
    ])
  })
  return [
    ...differs('payment.open_at', id, postedAt === undefined ? paidAt : undefined, openAt),
    ...differs('payment.money_version', id, version || undefined, payment.moneyVersion),
    ...(moved ?? differs('payment.movements', id, 'figures that add up', 'different')),
  ]
}
