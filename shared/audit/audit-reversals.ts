import type { Deps } from '../deps.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import type { Window } from '../ledger/ledger-store.ts'
import { findReversals, type LedgerReversal } from '../ledger/reversal-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { type Difference, differs } from './difference.ts'

const AMOUNTS = ['notionalMinor', 'providerFeeMinor', 'markupMinor', 'netMinor'] as const

const ofPayment = (reversal: LedgerReversal, payment: Payment | undefined): readonly Difference[] => {
  const { paymentId: id, at, paidAt } = reversal
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
    paymentIds: new Set(byId.keys()),
  }
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
