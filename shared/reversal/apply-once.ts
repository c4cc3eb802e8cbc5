import type { Deps } from '../deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { logSuspense, publishSuspenseAlert } from '../suspense/record-suspense.ts'
import type { TransactOutcome } from '../table/table.ts'
import type { Planned } from './plan-reversal.ts'

export type ReverseDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts'>

/** Of a settlement and of other reversals of the client at the same moment, each is met once or twice. */
const MAX_TRIES = 8

/**
 * What one of the provider's transactions changes about a succeeded payment, once, in one transaction with it, and alerted
 * once. Planned anew whenever something has changed meanwhile; false when there is nothing to plan. Throws when the
 * payment kept changing.
 */
export const applyOnce = async (
  deps: ReverseDeps,
  known: Payment,
  transactionId: string,
  plan: (payment: Payment) => Promise<Planned | undefined>,
): Promise<boolean> => {
  let payment = known
  let isKnown = false
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (payment.reversalIds?.has(transactionId)) return true
    const planned = await plan(payment)
    if (planned === undefined) return false
    const { suspense, ...others } = planned.steps
    const outcome: TransactOutcome<string> = await deps.table.transact<string>(
      isKnown ? others : { ...others, suspense },
    )
    if (outcome.applied) {
      if (isKnown) return true
      logSuspense(deps, planned.noted)
      await publishSuspenseAlert(deps, planned.noted)
      return true
    }
    // Somebody has found it before, and told it: planned without it, unless the next plan is to note something else.
    isKnown = outcome.refusedBy === 'suspense'
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (stored?.status !== 'succeeded') break
    payment = stored
  }
  throw new Error('a payment kept changing while it was reversed')
}
