import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { applyOnce, type ReverseDeps } from './apply-once.ts'
import { type MoneyAgain, planUndo } from './plan-undo.ts'

/**
 * `undone`: the books have it. `too_early`: nothing stands that could be undone, which may be heard of yet. `unclear`: it is
 * not all of what one dispute took, and nothing else; a person must look.
 */
export type Undone = 'undone' | 'too_early' | 'unclear'

const standingOf = ({ reversal }: Payment) =>
  reversal?.wholeAt === undefined ? undefined : { reversal, whole: reversal.whole }

/**
 * The books follow money that went back by a dispute and comes again, when the dispute is won: all of it, once for each of
 * the provider's transactions. Whatever else comes again is for a person, and changes nothing here. Safe to repeat.
 */
export const undoReversal = async (deps: ReverseDeps, known: Payment, again: MoneyAgain): Promise<Undone> => {
  // What was read with a page may be from before the dispute.
  const stored = await findStoredPayment(deps, known.paymentId)
  if (stored?.status !== 'succeeded') return 'too_early'
  let outcome: Undone = 'undone'
  await applyOnce(deps, stored, again.transactionId, async (payment) => {
    const standing = standingOf(payment)
    const isAll = again.amountMinor >= payment.notionalMinor
    outcome = standing === undefined && isAll ? 'too_early' : 'unclear'
    const whole = standing?.whole
    if (standing === undefined || whole?.kind !== 'chargeback' || whole.beyond || !isAll) return undefined
    outcome = 'undone'
    return planUndo(deps, payment, { reversal: standing.reversal, whole }, again)
  })
  return outcome
}
