import type { ClientBooks } from '../audit/judged/client-books.ts'
import { asEstimated, asMovedBy, eventNamesOf } from '../audit/judged/judge-events.ts'
import { type Event, reversedEventName } from '../event/event.ts'
import { requireEvent } from '../event/event-store.ts'
import { EventSchema } from '../event/read-events.ts'
import { deliveryIdFor, type PaymentId, subjectOfPayment } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { putEntry } from '../journal/entry-store.ts'
import { announcementOf, announcementOfMovement } from '../payment/announcement.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment, isForeign } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { requireSameMoney } from '../posting/posting-store.ts'
import { eventKey } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import type { Difference } from '../verdict/difference.ts'
import { findDeliveries, insertDelivery, newDelivery } from '../webhook/delivery/delivery-store.ts'
import { findEndpointEver } from '../webhook/endpoint/endpoint-store.ts'
import { type RecountDeps, type Repair, shiftFigures } from './repair.ts'

/**
 * Rebuilds a payment's lost events, deliveries and entries from its row, under their ids, in one
 * transaction. Refused if the payment's money or customer has changed after the read.
 */
export async function completePayment(
  deps: RecountDeps,
  books: ClientBooks,
  {
    paymentId,
    differences,
  }: { readonly paymentId: PaymentId; readonly differences: readonly Difference[] },
): Promise<readonly Repair[]> {
  const lostItems = Map.groupBy(differences, lostName)
  const payment = differences.some(lostName) ? await findStoredPayment(deps, paymentId) : undefined
  if (payment === undefined || payment.status === 'creating' || isForeign(payment)) return []
  const eventSteps = await Promise.all(
    eventNamesOf(payment).map((name) => completeEvent(deps, payment, name)),
  )
  const entries = entriesOf(payment).filter(({ entryId }) => lostItems.has(entryId))
  const steps: Steps<string> = Object.assign(
    Object.fromEntries(entries.map((entry) => [entry.entryId, putEntry(payment.clientId, entry)])),
    ...eventSteps.filter((candidate) => Object.keys(candidate).some((name) => lostItems.has(name))),
  )
  const targets = Object.keys(steps).flatMap((name) => lostItems.get(name) ?? [])
  if (targets.length === 0) return []
  const shift = shiftFigures(deps, books, { before: payment, after: payment, entries })
  const all = { ...steps, ...shift, payment: requireSameMoney(payment) }
  return [{ subject: paymentId, targets, steps: () => all }]
}

/** The step's name. Undefined for a difference that needs no lost item again. */
function lostName({ what, id, expected, found }: Difference): string | undefined {
  if (what === 'entry') return found === 'missing' ? id : undefined
  if (found !== null) return undefined
  if (what === 'delivery') return id
  return what === 'event' ? String(expected) : undefined
}

/**
 * Completes an event of a payment under its id, with its missing deliveries. A stored event or
 * delivery is not changed, because the merchant may have it.
 */
export async function completeEvent(
  deps: RecountDeps,
  payment: Payment,
  name: string,
): Promise<Steps<string>> {
  const stored = await findStoredEvent(deps, payment, name)
  if (stored)
    return {
      ...(await insertLostDeliveries(deps, stored.event)),
      [name]: requireEvent(stored.event),
    }
  const { steps, deliveries } = await announceAgain(deps, payment, name)
  const announced = deliveries.map(({ delivery }) => delivery)
  const existing = await findDeliveries(deps, announced)
  const existingNames = new Set<string>(['event', ...existing.map(({ deliveryId }) => deliveryId)])
  const lostSteps = Object.entries(steps).filter(([id]) => !existingNames.has(id))
  return { ...Object.fromEntries(lostSteps), [name]: steps['event'] }
}

/** Undefined if the event is missing or unreadable. */
export async function findStoredEvent(
  deps: RecountDeps,
  payment: Pick<Payment, 'paymentId'>,
  name: string,
) {
  const item = await deps.table.get(eventKey(subjectOfPayment(payment.paymentId), name))
  const event = ifValid(EventSchema, item)
  return event && item && { event, item }
}

/** Deliveries are due immediately. Deliveries to unknown endpoints stay lost. */
async function insertLostDeliveries(deps: RecountDeps, event: Event): Promise<Steps<string>> {
  const rows = event.endpointIds.map((endpointId) => ({
    deliveryId: deliveryIdFor(event.eventId, endpointId),
  }))
  const existing = await findDeliveries(deps, rows)
  const lostIds = new Set(event.endpointIds).difference(
    new Set(existing.map(({ endpointId }) => endpointId)),
  )
  const endpoints = await Promise.all(
    [...lostIds].map((endpointId) => findEndpointEver(deps, { ...event, endpointId })),
  )
  const deliveries = endpoints.flatMap((endpoint) =>
    endpoint ? [newDelivery(event, endpoint, event.firedAt)] : [],
  )
  return Object.fromEntries(
    deliveries.map((delivery) => [delivery.deliveryId, insertDelivery(delivery)]),
  )
}

async function announceAgain(deps: RecountDeps, payment: Payment, name: string) {
  const movement = payment.movements.find((candidate) => reversedEventName(candidate) === name)
  if (movement === undefined) return announcementOf(deps, asAnnounced(payment))
  // Movements of an open payment are announced with the estimated fee.
  const isEstimated = movement.postedAt === undefined || movement.postedAt === payment.postedAt
  const moved = asMovedBy(isEstimated ? asAnnounced(payment) : payment, movement)
  return announcementOfMovement(deps, moved)
}

/**
 * The payment as its status was announced: with its estimated fee, unless the fee was final at
 * success.
 */
function asAnnounced(payment: Payment): Payment {
  return payment.finalFee?.invoiced === true && payment.finalFee.at === payment.paidAt
    ? payment
    : asEstimated(payment)
}
