import type { Deps } from '../deps.ts'
import type { Payment } from '../payment/payment.ts'
import { ELIGIBLE_AGE_MS, type Settlement } from '../settlement/settlement.ts'
import { settlementAt } from '../settlement/settlement-store.ts'
import { addMs, later, type Timestamp } from '../time.ts'

/** Bounds the loop, because a settlement can fail and be re-credited any number of times. */
const MAX_SETTLEMENTS = 20

/** The journal time of a posted payment's own entry. */
const eligibleAtOf = ({ paidAt, postedAt }: Payment): Timestamp | undefined =>
  paidAt && postedAt && later(postedAt, addMs(paidAt, ELIGIBLE_AGE_MS))

/**
 * The settlements that contain a payment, oldest first: the one that swept its entry and, after a re-credit, the one
 * that contains the re-credit. None for an open payment.
 */
export const settlementsWithPayment = async (
  deps: Pick<Deps, 'table'>,
  payment: Payment,
): Promise<readonly Settlement[]> => {
  const found: Settlement[] = []
  let at = eligibleAtOf(payment)
  while (at !== undefined && found.length < MAX_SETTLEMENTS) {
    const settlement: Settlement | undefined = await settlementAt(deps, payment.clientId, at)
    if (settlement === undefined) break
    found.push(settlement)
    at = settlement.recreditedAt
  }
  return found
}
