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

/** A client's swept windows, oldest first, and what the payments in each add up to. */
export type SettledWindows = {
  readonly windows: readonly Settlement[]
  readonly until: Timestamp
  readonly sums: ReadonlyMap<Timestamp, SettledSums>
}

export const settledWindows = (settlements: readonly Settlement[], until: Timestamp): SettledWindows => {
  const windows = settlements
    .filter(({ replaces }) => replaces === undefined)
    .toSorted((a, b) => (a.periodStart < b.periodStart ? -1 : 1))
  return { windows, until, sums: new Map(windows.map(({ periodStart }) => [periodStart, noSums()])) }
}

/** Adds a payment to the window it was paid in, if its time has been swept: it must be in one, with its final fee. */
export const addToWindow = ({ windows, until, sums }: SettledWindows, payment: Payment): readonly Difference[] => {
  const { paymentId: id, paidAt } = payment
  if (payment.status !== 'succeeded' || paidAt === undefined || paidAt >= until) return []
  const window = windows.findLast(({ periodStart }) => periodStart <= paidAt)
  const sum = window && paidAt < window.periodEnd ? sums.get(window.periodStart) : undefined
  if (sum === undefined) return differs('payment.paid_at', id, 'in a settled window', paidAt)
  sum.grossMinor += payment.notionalMinor
  sum.providerFeesMinor += payment.providerFeeMinor
  sum.markupMinor += payment.markupMinor
  sum.netMinor += payment.netMinor
  sum.paymentCount++
  return payment.feeStatus === 'estimated' ? differs('payment.fee_status', id, 'final', 'estimated') : []
}
