import { isAttempt, isCreating, leaseIsOver } from '../payment/creating-store.ts'
import type { CreatingPayment, Payment } from '../payment/payment.ts'
import { paymentKey } from '../table/keys.ts'
import { absent, all, equals, type Step, unchanged, update } from '../table/step.ts'
import type { Timestamp } from '../time.ts'

/**
 * Removes the customer from a terminal payment. The first erasure counts. Refused when its money has moved since it was
 * read, because that event still carries the customer.
 */
export const eraseFromPayment = ({ paymentId, status, moneyVersion }: Payment, now: Timestamp): Step =>
  update(
    paymentKey(paymentId),
    { set: { erasedAt: now }, remove: ['customer'] },
    all(equals('status', status), absent('erasedAt'), unchanged('moneyVersion', moneyVersion)),
  )

/**
 * Removes the customer from the request of a create without a running attempt. Refused when an attempt has begun since
 * it was read.
 */
export const eraseFromRequest = ({ paymentId, attempt, request }: CreatingPayment, now: Timestamp): Step => {
  const { customer: _, ...rest } = request
  return update(
    paymentKey(paymentId),
    { set: { request: rest } },
    all(isCreating, isAttempt(attempt), leaseIsOver(now)),
  )
}
