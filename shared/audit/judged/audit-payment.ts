import type { StoreDeps } from '../../deps.ts'
import { type ClientId, ClientIdSchema, type PaymentId, slotOf } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { ZERO } from '../../money.ts'
import { estimatePricing, type Pricing } from '../../payment/new-payment.ts'
import type { Payment } from '../../payment/payment.ts'
import { isForeign } from '../../payment/payment-store.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import { replayMovements } from '../../posting/reversal-after.ts'
import type { Item } from '../../table/attributes.ts'
import { queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER, WORK_SLOTS } from '../../table/schema.ts'
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
  compare,
  compareAll,
  type Difference,
  onlyIf,
  toValue,
  tryToMake,
} from '../../verdict/difference.ts'

/** Checks one payment by itself, in one snapshot. */
export function auditPayment(
  payment: Payment,
  item: Item,
  { clientId, now }: { readonly clientId: ClientId; readonly now: Timestamp },
): readonly Difference[] {
  const { paymentId: id, status, transitions } = payment
  const last = transitions.at(-1)
  const [isDue, isPaid] = [status === 'pending', status === 'succeeded']
  return [
    ...auditAmounts(payment),
    ...compareAll('payment', id, [
      // A wrong owner or index attribute sends money to another ledger, or hides the payment.
      ['client_id', clientId, payment.clientId],
      ['owner', clientId, toValue(item['owner'])],
      ['id', id, toValue(item['id'])],
      ['work', isDue ? 'payment' : undefined, toValue(item['work'])],
      ['slot', isDue ? slotOf(id, WORK_SLOTS.payment) : undefined, toValue(item['slot'])],
      ['status', last?.status, status],
      ['paid_at', isPaid ? last?.at : undefined, payment.paidAt],
      ['transitions', isDue ? 1 : 2, transitions.length],
      [
        'credited_provider_payment_id',
        isPaid ? 1 : 0,
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
  const fee = payment.status === 'succeeded' ? finalFee : undefined
  const assumedMinor = fee?.status === 'assumed' ? fee.feeMinor : undefined
  const earlyFeeAt = fee ? undefined : finalFee?.at
  return compareAll('payment', id, [
    [
      'notional_minor',
      estimate ? notionalMinor : 'an amount and channel with a tariff',
      notionalMinor,
    ],
    // Plain arithmetic: a tampered amount can exceed the range of money.
    ['net_minor', notionalMinor - providerFeeMinor - markupMinor, payment.netMinor],
    ['markup_minor', estimate?.markupMinor ?? markupMinor, markupMinor],
    ['fee_status', fee?.status ?? 'estimated', payment.feeStatus],
    ['provider_fee_minor', fee?.feeMinor ?? estimate?.providerFeeMinor, providerFeeMinor],
    [
      'final_fee',
      assumedMinor === undefined ? undefined : (estimate?.providerFeeMinor ?? assumedMinor),
      assumedMinor,
    ],
    ['final_fee', earlyFeeAt && 'none before success', earlyFeeAt],
  ])
}

/** Undefined without a tariff, as for a bank or an invalid amount. */
export function estimateOf(payment: Payment): Pricing | undefined {
  return tryToMake(() => estimatePricing(payment, payment.createdAt))
}

/**
 * Due work checks a payment by its expiry. A claim moves the check by minutes, or by a day if the
 * payment never expires.
 */
const FARTHEST_CHECK_MS = 2 * HOUR_MS
/** Our clocks differ a little; the provider's times differ by more. */
const SKEW_MS = MINUTE_MS

/** Checks that times which no other item repeats are possible. */
function auditPlausibility(payment: Payment, now: Timestamp): readonly Difference[] {
  const { paymentId: id, createdAt, expiresAt, cancelRequestedAt, expiryStartedAt } = payment
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
  const spans = [
    ['created_at', createdAt, '', latestAt, 'a past time'],
    ['transitions', endedAt, earliestAt, latestAt, 'in order, and not in the future'],
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
  return spans.flatMap(([name, time, from, to, rule]) =>
    onlyIf(
      time !== undefined && (time < from || time > to),
      compare(`payment.${name}`, id, rule, time),
    ),
  )
}

/** Checks what moved a payment's money, and how often. An unpaid payment has no money. */
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
    const moneyAt = postedAt ?? openAt
    return compareAll('payment', id, [
      ['posted_at', moneyAt && 'never paid', moneyAt],
      ['taken_back_minor', ZERO, takenBackMinor],
      ['movements', 0, movements.length],
    ])
  }
  const isPosted = postedAt !== undefined && payment.voidedOpen !== true
  // How often the payment's money was written: posted, moved, and the late row booked.
  const version = movements.length + (isPosted ? 1 : 0) + (lateRowAt === undefined ? 0 : 1)
  // Applies every movement again, for the sum taken back and the public reversal.
  const moved = tryToMake(() => {
    const { money, reversal } = replayMovements(payment, moneyOf(payment).price)
    return compareAll('payment', id, [
      ['taken_back_minor', money.takenBackMinor, takenBackMinor],
      ['is_void', String(money.isVoid), String(payment.isVoid === true)],
      ['movements', money.applied.length, movements.length],
      ['reversal.amount_minor', reversal?.amountMinor, payment.reversal?.amountMinor],
      ['reversal.at', reversal?.at, payment.reversal?.at],
      ['reversal.undone_at', reversal?.undoneAt, payment.reversal?.undoneAt],
    ])
  })
  return [
    ...compare('payment.open_at', id, postedAt === undefined ? paidAt : undefined, openAt),
    ...compare('payment.money_version', id, version || undefined, payment.moneyVersion),
    ...(moved ?? compare('payment.movements', id, 'figures that add up', 'different')),
  ]
}

/**
 * A payment's id is derived from its client and its key's digest. A difference names the client
 * that the id belongs to, if one client fits.
 */
export async function auditOwners(
  deps: StoreDeps,
  payments: readonly Payment[],
): Promise<ReadonlyMap<PaymentId, readonly Difference[]>> {
  const foreignPayments = payments.filter(isForeign)
  const clientIds = foreignPayments.length === 0 ? [] : await allClientIds(deps)
  return new Map(
    foreignPayments.map((payment) => [payment.paymentId, auditOwner(payment, clientIds)]),
  )
}

function auditOwner(payment: Payment, clientIds: readonly ClientId[]): readonly Difference[] {
  const { paymentId, clientId, keyDigest } = payment
  const [owner, ...others] = clientIds.filter((id) => !isForeign({ ...payment, clientId: id }))
  return owner !== undefined && others.length === 0
    ? compare('payment.client_id', paymentId, owner, clientId)
    : compare('payment.key_digest', paymentId, 'the digest of its id', keyDigest)
}

async function allClientIds(deps: StoreDeps): Promise<readonly ClientId[]> {
  const list = { index: 'by-owner', partition: [GATEWAY_OWNER, 'client'], limit: 1_000 } as const
  return (await queryAll(deps, list)).flatMap(({ id }) => ifValid(ClientIdSchema, id) ?? [])
}
