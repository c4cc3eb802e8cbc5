import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { conflict, GatewayError, invalid, notFound } from '../errors.ts'
import type { Event } from '../event/event.ts'
import { listEventsOf } from '../event/read-events.ts'
import { type ClientId, type PaymentId, subjectOfPayment } from '../ids.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { isUnderLease } from '../payment/creating-store.ts'
import { pagesOfReference } from '../payment/list-payments.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { findAnyPayment } from '../payment/payment-store.ts'
import { addMs, MINUTE_MS, SECOND_MS, type Timestamp, timeLimit } from '../time.ts'
import { deliveriesOfEvent } from '../webhook/delivery/list-deliveries.ts'
import { eraseFromEvent, eraseFromPayment, eraseFromRequest } from './erase-store.ts'

type EraseDeps = RecordDeps & Pick<Deps, 'log' | 'monotonicMs'>

type Erased = {
  readonly payment_id: PaymentId
  readonly fields: readonly string[]
  readonly events: number
}

/** The next call skips the erased payments. */
const MAX_ERASED = 100
const RUN_MS = 40 * SECOND_MS

type Selection = {
  readonly paymentId?: string | undefined
  readonly clientId?: ClientId | undefined
  readonly externalReference?: string | undefined
}

/**
 * Erases the customer from one payment, or from all payments of a client with a reference. `left`
 * names up to a hundred payments whose customer cannot be erased yet, and why. `complete`: no
 * payment is left. Throws 404 if there is no such payment.
 */
export async function eraseCustomers(deps: EraseDeps, selection: Selection, operator: string) {
  const erased: Erased[] = []
  const left: { readonly payment_id: string; readonly reason: string }[] = []
  const leave = (payment_id: string, reason: string) =>
    left.length < MAX_ERASED && left.push({ payment_id, reason })
  const { paymentId = '', clientId, externalReference: reference = '' } = selection
  if (clientId === undefined) {
    erased.push(await eraseCustomer(deps, await findAnyPayment(deps, paymentId), operator))
    return { erased, left, complete: true }
  }
  await requireClient(deps, clientId)
  const isLate = timeLimit(deps, RUN_MS)
  let isKnown = false
  const isOver = () => erased.length === MAX_ERASED || isLate()
  for await (const { rows, unreadableIds } of pagesOfReference(deps, clientId, reference)) {
    if (isOver()) return { erased, left, complete: false }
    isKnown ||= rows.length + unreadableIds.length > 0
    for (const id of unreadableIds) leave(id, 'it cannot be read')
    for (const payment of rows.filter((one) => mayBeNamed(one, deps.now()))) {
      if (isOver()) return { erased, left, complete: false }
      try {
        const one = await eraseCustomer(deps, payment, operator)
        if (one.fields.length + one.events > 0) erased.push(one)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        leave(payment.paymentId, error.message)
      }
    }
  }
  if (!isKnown) throw notFound('payment with this external_reference')
  return { erased, left, complete: left.length === 0 }
}

/**
 * After a crash an event of the payment that was erased last may still name its customer. A longer
 * time would make each call read again what the calls before it erased.
 */
function mayBeNamed({ customer, erasedAt }: Payment, now: Timestamp) {
  return customer !== undefined || (erasedAt ?? '') > addMs(now, -10 * MINUTE_MS)
}

/**
 * Erases name, e-mail and phone from a payment, its stored request and its events (design section
 * 11). Events are first, so after a crash the payment still names its customer, and a second call
 * finishes. They are erased once more after the payment, because an event may have been written
 * between; later ones name no customer. Throws 422 while the payment is pending or being created,
 * or a delivery is under way; 409 if the payment changes meanwhile.
 */
async function eraseCustomer(
  deps: EraseDeps,
  payment: StoredPayment,
  operator: string,
): Promise<Erased> {
  const { paymentId: payment_id, clientId } = payment
  const now = deps.now()
  if (payment.status === 'creating' && isUnderLease(payment, now))
    throw notErasable('the payment is being created')
  const [{ customer }, events, step] =
    payment.status === 'creating'
      ? [payment.request, 0, eraseFromRequest(payment, now)]
      : [payment, await eraseFromEvents(deps, payment), eraseFromPayment(payment, now)]
  const fields = Object.keys(customer ?? {})
  const record = { subject: payment_id, clientId, operator, action: 'erase-customer' }
  if (fields.length > 0 && !(await recordChange(deps, record, { payment: step })).applied)
    throw conflict('the payment changed during the erasure; try again')
  const eventsAfter = await eraseAll(deps, await eventsOf(deps, payment))
  deps.log.info('customer.erased', { payment_id, client_id: clientId })
  return { payment_id, fields, events: events + eventsAfter }
}

function notErasable(reason: string) {
  return invalid(`${reason}: its customer cannot be erased yet`)
}

/** Answers the number of events that had the customer. */
async function eraseFromEvents(deps: EraseDeps, payment: Payment) {
  const { clientId, status } = payment
  if (status === 'pending') throw notErasable('the payment is pending')
  const events = await eventsOf(deps, payment)
  for (const { eventId } of events) {
    const deliveries = await deliveriesOfEvent(deps, clientId, eventId)
    if (deliveries.some(({ delivery }) => delivery.status === 'scheduled'))
      throw notErasable('a delivery of the payment is under way')
  }
  return eraseAll(deps, events)
}

async function eventsOf(
  deps: EraseDeps,
  { paymentId }: Pick<StoredPayment, 'paymentId'>,
): Promise<readonly Event[]> {
  const found = await listEventsOf(deps, subjectOfPayment(paymentId))
  const events = found.filter((event) => event !== undefined)
  // Its bytes may name the customer.
  if (events.length < found.length)
    throw new GatewayError('internal_error', 'an event of the payment cannot be read')
  return events
}

async function eraseAll(deps: EraseDeps, events: readonly Event[]) {
  let count = 0
  for (const event of events) if (await eraseFromEvent(deps, event)) count++
  return count
}
