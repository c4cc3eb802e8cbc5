import { paymentKey } from '../table/keys.ts'
import { all, guard, type Step, unchanged, update } from '../table/step.ts'
import type { Payment, StoredPayment } from './payment.ts'

/** What the event of the change says of the payment; an erasure changes it too. */
const SAID = ['status', 'feeStatus', 'erasedAt'] as const

/** Refused if the dispute, or what its event says of the payment, changed after the read. */
export function noteDispute(payment: Payment, dispute: Payment['dispute']): Step {
  return update(paymentKey(payment.paymentId), { set: { dispute } }, isAsRead(payment, 'dispute'))
}

/** Refused if held money, or what its event says of the payment, changed after the read. */
export function noteHeld(payment: Payment, held: Payment['held']): Step {
  return update(paymentKey(payment.paymentId), { set: { held } }, isAsRead(payment, 'held'))
}

/**
 * Refused when the payment became visible after the read, and shows its held money, or is credited.
 */
export function requireStatus(
  paymentId: Payment['paymentId'],
  status: StoredPayment['status'] | undefined,
): Step {
  return guard(paymentKey(paymentId), unchanged('status', status))
}

function isAsRead(payment: Payment, shown: 'dispute' | 'held') {
  return all(...[...SAID, shown].map((field) => unchanged(field, payment[field])))
}
