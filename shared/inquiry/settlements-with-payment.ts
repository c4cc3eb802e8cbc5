import type { Deps } from '../deps.ts'
import type { Payment } from '../payment/payment.ts'
import { ELIGIBLE_AGE_MS, type Settlement } from '../settlement/settlement.ts'
import { settlementAt } from '../settlement/settlement-store.ts'
import { addMs, later, type Timestamp } from '../time.ts'

/** How often a settlement can fail and be re-credited is up to people. */
const MOST_SETTLEMENTS = 20

/** The place of a posted payment's own entry in the journal. */
const eligibleAtOf = ({ paidAt, postedAt }: Payment): Timestamp | undefined =>
  paidAt && postedAt && later(postedAt, addMs(paidAt, ELIGIBLE_AGE_MS))

/**
 * The settlements that pay a payment out, or have, oldest first: the one that swept its entry and, after a re-credit, the
 * one that has the re-credit. None of an open payment.
 */
export const settlementsWithPayment = async (
  deps: Pick<Deps, 'table'>,
  payment: Payment,
): Promise<readonly Settlement[]> => {
  const found: Settlement[] = []
  let at = eligibleAtOf(payment)
  while (at !== undefined && found.length < MOST_SETTLEMENTS) {
    const settlement: Settlement | undefined = await settlementAt(deps, payment.clientId, at)
    if (settlement === undefined) break
    found.push(settlement)
    at = settlement.recreditedAt
  }
  return found
}
