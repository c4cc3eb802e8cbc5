import type { TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { Event } from '../event/event.ts'
import { memberText } from '../json.ts'
import { isAttempt, leaseIsOver } from '../payment/creating-store.ts'
import type { CreatingPayment, Payment } from '../payment/payment.ts'
import { storedDetails } from '../payment/payment-details.ts'
import { deflateText } from '../table/deflated-text.ts'
import { eventKey, paymentKey } from '../table/keys.ts'
import { absent, all, equals, type Step, unchanged, update } from '../table/step.ts'
import type { Timestamp } from '../time.ts'

/**
 * Refused if the payment's money, held money or dispute changed after the read, because the event
 * of that still names the customer.
 */
export function eraseFromPayment(payment: Payment, now: Timestamp): Step {
  const { paymentId, status, moneyVersion, held, dispute } = payment
  const details = storedDetails({ ...payment, customer: undefined })
  return update(
    paymentKey(paymentId),
    { set: { erasedAt: now, details } },
    all(
      equals('status', status),
      absent('erasedAt'),
      unchanged('moneyVersion', moneyVersion),
      unchanged('held', held),
      unchanged('dispute', dispute),
    ),
  )
}

/** Refused while an attempt runs, or if another attempt began after the read. */
export function eraseFromRequest(
  { paymentId, attempt, request: storedRequest }: CreatingPayment,
  now: Timestamp,
): Step {
  const { customer: _, ...request } = storedRequest
  const isIdle = all(isAttempt(attempt), leaseIsOver(now))
  return update(paymentKey(paymentId), { set: { request, erasedAt: now } }, isIdle)
}

/**
 * Removes the customer from an event's data and keeps every other byte. False if the event names no
 * customer, or if its bytes changed after the read. The first `customer` key is the payment's own:
 * it comes before the merchant's metadata, and quotes inside a string are escaped.
 */
export async function eraseFromEvent(
  deps: TableDeps,
  { subject, name, body, storedBody }: Event,
): Promise<boolean> {
  const data = memberText(body, 'data')
  const customer = data === undefined ? undefined : memberText(data, 'customer')
  if (customer === undefined) return false
  const member = `"customer":${customer}`
  const erased = body.includes(`,${member}`)
    ? body.replace(`,${member}`, '')
    : body.replace(`${member},`, '')
  const erasedData = memberText(erased, 'data')
  const isErased = erasedData !== undefined && memberText(erasedData, 'customer') === undefined
  assertInvariant(isErased, 'the customer is still in the event')
  const isAsRead = equals('body', storedBody)
  const step = update(eventKey(subject, name), { set: { body: deflateText(erased) } }, isAsRead)
  return (await deps.table.write(step)).applied
}
