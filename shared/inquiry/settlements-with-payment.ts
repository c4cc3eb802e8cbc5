import type { Deps } from '../deps.ts'
import { deductedIn, reversalsBetween } from '../ledger/reversal-store.ts'
import { type Payment, placeOf } from '../payment/payment.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { settlementsOfPayment } from '../settlement/settlement-store.ts'
import { addMs, type Timestamp } from '../time.ts'

/**
 * The settlements that have a succeeded payment in their sums, or had it when they were recorded, oldest first: none that
 * was recorded without it because its money had gone back, and those that it was put back into.
 */
export const settlementsWithPayment = async (
  deps: Pick<Deps, 'table'>,
  payment: Payment,
): Promise<readonly Settlement[]> => {
  const places = [...new Set([payment.paidAt, placeOf(payment)])].flatMap((place) => place ?? [])
  return (await Promise.all(places.map((place) => recordedAt(deps, payment, place)))).flat()
}

/** Those of one place in the order of what is settled. */
const recordedAt = async (
  deps: Pick<Deps, 'table'>,
  { clientId, paymentId }: Payment,
  place: Timestamp,
): Promise<readonly Settlement[]> => {
  const [settlements, reversals] = await Promise.all([
    settlementsOfPayment(deps, clientId, place),
    reversalsBetween(deps, clientId, { start: place, end: addMs(place, 1) }),
  ])
  if (deductedIn(reversals).has(paymentId)) return []
  const byId = new Map(settlements.map((settlement) => [settlement.settlementId, settlement]))
  /** One before it was put back to available without the payment. */
  const isWithout = ({ replaces }: Settlement): boolean => {
    const before = replaces && byId.get(replaces)
    return before !== undefined && (before.reversedPaymentIds?.has(paymentId) === true || isWithout(before))
  }
  return settlements.filter((settlement) => !isWithout(settlement))
}
