import type { Deps } from '../deps.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { readWindow } from '../settlement/window-store.ts'
import { logSuspense, publishSuspenseAlert } from '../suspense/record-suspense.ts'
import { findSuspense, leaveOut } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { isWhole, type MoneyBack, type Planned, partOwedId, planUnswept } from './plan-reversal.ts'
import { planSwept } from './plan-swept.ts'

type ReverseDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts'>

/** Of a settlement and of other reversals of the client at the same moment, each is met once or twice. */
const MAX_TRIES = 8

/** A payment is refunded in a few parts; beyond these an operator writes off what is owed for them. */
const MOST_PARTS = 80

/** What is owed for parts is owed no longer once all of the payment goes back: that, or nothing, is owed then. */
const closeParts = async (deps: ReverseDeps, payment: Payment, back: MoneyBack): Promise<Steps<string>> => {
  if (!isWhole(back, payment)) return {}
  const ids = [...(payment.reversalIds ?? [])].slice(0, MOST_PARTS).map(partOwedId)
  const parts = await Promise.all(ids.map((id) => findSuspense(deps, id)))
  return Object.fromEntries(
    parts.flatMap((part) => (part ? [[part.suspenseId, leaveOut(part, back.transactionId, deps.now())]] : [])),
  )
}

const plan = async (deps: ReverseDeps, payment: Payment, back: MoneyBack): Promise<Planned> => {
  const window = await readWindow(deps, payment.clientId)
  const isSwept = payment.paidAt === undefined || payment.paidAt < window.settledUntil
  return isSwept ? planSwept(deps, payment, back) : planUnswept(payment, back, window, deps.now())
}

/**
 * The books follow money that goes back (design section 10): out of the ledger where no settlement has swept it, onto its
 * settlement where one has, and as a receivable where its client is or will be paid all the same. Each of the provider's
 * transactions counts once, in one transaction with the payment, and is alerted once. The payment stays succeeded. Throws
 * when the payment kept changing, or when its settlement is too new to be found; safe to repeat.
 */
export const reversePayment = async (deps: ReverseDeps, credited: Payment, back: MoneyBack): Promise<void> => {
  let payment = credited
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (payment.reversalIds?.has(back.transactionId)) return
    const { steps, noted } = await plan(deps, payment, back)
    const { applied } = await deps.table.transact({ ...steps, ...(await closeParts(deps, payment, back)) })
    if (applied) {
      logSuspense(deps, noted)
      await publishSuspenseAlert(deps, noted)
      return
    }
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (stored?.status !== 'succeeded') break
    payment = stored
  }
  throw new Error('a payment kept changing while it was reversed')
}
