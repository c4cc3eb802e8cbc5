import type { Payment } from '../payment/payment.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Timestamp } from '../time.ts'
import { type Difference, differs } from './difference.ts'

/** Fields of a settlement that are sums over its payments. Plain numbers here, as in the ledger's tally. */
export const SUM_FIELDS = ['grossMinor', 'providerFeesMinor', 'markupMinor', 'netMinor', 'paymentCount'] as const
export type SettledSums = Record<(typeof SUM_FIELDS)[number], number>

export const noSums = (): SettledSums => ({
  grossMinor: 0,
  providerFeesMinor: 0,
  markupMinor: 0,
  netMinor: 0,
  paymentCount: 0,
})

/** A client's swept windows, oldest first. */
export type SettledWindows = { readonly windows: readonly Settlement[]; readonly until: Timestamp }

export const settledWindows = (settlements: readonly Settlement[], until: Timestamp): SettledWindows => ({
  windows: settlements
    .filter(({ replaces }) => replaces === undefined)
    .toSorted((a, b) => (a.periodStart < b.periodStart ? -1 : 1)),
  until,
})

/** A payment paid when its time has been swept already must be in a window, with its final fee. */
export const auditSwept = ({ windows, until }: SettledWindows, payment: Payment): readonly Difference[] => {
  const { paymentId: id, paidAt } = payment
  if (payment.status !== 'succeeded' || paidAt === undefined || paidAt >= until) return []
  const window = windows.findLast(({ periodStart }) => periodStart <= paidAt)
  if (window === undefined || paidAt >= window.periodEnd) {
    return differs('payment.paid_at', id, 'in a settled window', paidAt)
  }
  return payment.feeStatus === 'estimated' ? differs('payment.fee_status', id, 'final', 'estimated') : []
}
