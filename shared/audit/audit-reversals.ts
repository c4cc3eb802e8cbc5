import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import type { Window } from '../ledger/ledger-store.ts'
import { findReversals, isDeducted, type LedgerReversal } from '../ledger/reversal-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { reversedSums, type Settlement } from '../settlement/settlement.ts'
import { breaks, type Difference, differs } from './difference.ts'

const AMOUNTS = ['notionalMinor', 'providerFeeMinor', 'markupMinor', 'netMinor'] as const

const ofPayment = (reversal: LedgerReversal, payment: Payment | undefined): readonly Difference[] => {
  const { paymentId: id, at, paidAt } = reversal
  // Its fee may have become final since, and no sum is made of its amounts.
  if (!isDeducted(reversal))
    return breaks('reversal.part', id, payment?.reversal === undefined, 'of a payment of which something went back', at)
  return [
    ...differs('reversal.at', id, payment?.reversal?.deductedAt, at),
    ...differs('reversal.paid_at', id, payment?.paidAt, paidAt),
    ...AMOUNTS.flatMap((field) => differs(`reversal.${field}`, id, payment?.[field], reversal[field])),
  ]
}

/**
 * What was deducted before it was swept, against the payments it is about; numbered without a gap up to the window's
 * number, so that one taken away is missed.
 */
export const auditReversals = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { reversalSeq = 0 }: Window,
): Promise<{ readonly differences: readonly Difference[]; readonly paymentIds: ReadonlySet<PaymentId> }> => {
  const reversals = await findReversals(deps, clientId)
  const payments = await findPaymentsByKey(
    deps,
    reversals.map(({ paymentId }) => paymentId),
  )
  const byId = new Map(payments.map((payment) => [payment.paymentId, payment]))
  const inOrder = reversals.toSorted((a, b) => a.seq - b.seq)
  return {
    differences: [
      ...differs('window.reversal_seq', 'window', reversals.length, reversalSeq),
      ...inOrder.flatMap(({ paymentId, seq }, at) => differs('reversal.seq', paymentId, at + 1, seq)),
      ...reversals.flatMap((reversal) => ofPayment(reversal, byId.get(reversal.paymentId))),
    ],
    paymentIds: new Set(reversals.filter(isDeducted).map(({ paymentId }) => paymentId)),
  }
}

/** What went back of a settlement since it was recorded, against the payments it names. */
export const auditReversedOf = async (
  deps: Pick<Deps, 'table'>,
  settlement: Settlement,
): Promise<readonly Difference[]> => {
  const { settlementId: id, reversedPaymentIds = new Set<string>(), reversedCount = 0 } = settlement
  const payments = await findPaymentsByKey(
    deps,
    [...reversedPaymentIds].map((paymentId) => v.parse(PaymentIdSchema, paymentId)),
  )
  const isOfIt = ({ clientId, reversal, paidAt }: Payment) =>
    clientId === settlement.clientId &&
    reversal?.wholeAt !== undefined &&
    reversal.deductedAt === undefined &&
    paidAt !== undefined &&
    paidAt >= settlement.periodStart &&
    paidAt < settlement.periodEnd
  const known = payments.filter(isOfIt)
  const sum = (field: (typeof AMOUNTS)[number]) => known.reduce((total, payment) => total + payment[field], 0)
  const { grossMinor, providerFeesMinor, markupMinor, netMinor } = reversedSums(settlement)
  return [
    ...differs('settlement.reversed_payment_ids', id, known.length, reversedPaymentIds.size),
    ...breaks('settlement.reversed_count', id, reversedCount < known.length, 'at least its payments', reversedCount),
    ...differs('settlement.reversed_gross_minor', id, sum('notionalMinor'), grossMinor),
    ...differs('settlement.reversed_provider_fees_minor', id, sum('providerFeeMinor'), providerFeesMinor),
    ...differs('settlement.reversed_markup_minor', id, sum('markupMinor'), markupMinor),
    ...differs('settlement.reversed_net_minor', id, sum('netMinor'), netMinor),
  ]
}

/** A payment that says it was deducted is among the reversals. */
export const auditDeducted = (
  paymentIds: ReadonlySet<PaymentId>,
  { paymentId, reversal }: Payment,
): readonly Difference[] =>
  differs(
    'payment.reversal',
    paymentId,
    paymentIds.has(paymentId) ? 'deducted' : 'not deducted',
    reversal?.deductedAt === undefined ? 'not deducted' : 'deducted',
  )
