import type { Payment } from '../payment/payment.ts'
import { readWindow } from '../settlement/window-store.ts'
import { applyOnce, type ReverseDeps } from './apply-once.ts'
import { isSwept, isWhole, type MoneyBack, type Planned, planUnswept } from './plan-reversal.ts'
import { planSwept } from './plan-swept.ts'
import { closeParts } from './reversed-parts.ts'

const plan = async (deps: ReverseDeps, payment: Payment, back: MoneyBack): Promise<Planned> => {
  const window = await readWindow(deps, payment.clientId)
  const planned = isSwept(payment, window)
    ? await planSwept(deps, payment, back)
    : planUnswept(payment, back, window, deps.now())
  const parts = isWhole(back, payment) ? await closeParts(deps, payment, back.transactionId) : {}
  return { ...planned, steps: { ...planned.steps, ...parts } }
}

/**
 * The books follow money that goes back (design section 10): out of the ledger where no settlement has swept it, onto its
 * settlement where one has, and as a receivable where its client is or will be paid all the same. Each of the provider's
 * transactions counts once, in one transaction with the payment, and is alerted once. The payment stays succeeded. Throws
 * when the payment kept changing, or when its settlement is too new to be found; safe to repeat.
 */
export const reversePayment = async (deps: ReverseDeps, credited: Payment, back: MoneyBack): Promise<void> => {
  await applyOnce(deps, credited, back.transactionId, (payment) => plan(deps, payment, back))
}
