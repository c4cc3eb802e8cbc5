import { asEstimated, asMovedBy, eventNamesOf } from '../audit/judged/audit-event.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { type Event, reversedEventName } from '../event/event.ts'
import { eventExists } from '../event/event-store.ts'
import { EventSchema } from '../event/read-events.ts'
import { deliveryIdFor, type PaymentId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { putEntry } from '../journal/entry-store.ts'
import { announcementOf, announcementOfMovement } from '../payment/announcement.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { moneyStands } from '../posting/posting-store.ts'
import { eventKey } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'
import { findDeliveries, insertDelivery, newDelivery } from '../webhook/delivery/delivery-store.ts'
import { findEndpointEver } from '../webhook/endpoint/endpoint-store.ts'
import { type RecountDeps, type Repair, shiftedBy } from './repair.ts'

/**
 * Rebuilds a payment's lost events, deliveries and entries from its row, under their ids, in one transaction. Refused
 * if the payment's money or customer has changed after the read.
 */
export async function completePayment(
  deps: RecountDeps,
  books: ClientBooks,
  {
    paymentId,
    differences,
  }: { readonly paymentId: PaymentId; readonly differences: readonly Difference[] },
): Promise<readonly Repair[]> {
  const lost = Map.groupBy(differences, lostName)
  const payment = differences.some(lostName) ? await findStoredPayment(deps, paymentId) : undefined
  if (payment === undefined || payment.status === 'creating') return []
  const events = await Promise.all(
    eventNamesOf(payment).map((name) => eventSteps(deps, payment, name)),
  )
  const entries = entriesOf(payment).filter(({ entryId }) => lost.has(entryId))
  const steps: Steps<string> = Object.assign(
    Object.fromEntries(entries.map((entry) => [entry.entryId, putEntry(payment, entry)])),
    ...events.filter((one) => Object.keys(one).some((name) => lost.has(name))),
  )
  const of = Object.keys(steps).flatMap((name) => lost.get(name) ?? [])
  if (of.length === 0) return []
  const shift = shiftedBy(deps, books, { before: payment, after: payment, entries })
  const all = { ...steps, ...shift, payment: moneyStands(payment) }
  return [{ subject: paymentId, of, steps: () => all }]
}

/** The name of the step that writes a lost item again; undefined for other differences. */
function lostName({ what, id, expected, found }: Difference): string | undefined {
  if (what === 'entry') return found === 'missing' ? id : undefined
  if (found !== null) return undefined
  if (what === 'delivery') return id
  return what === 'event' ? String(expected) : undefined
}

/**
 * The steps that complete an event of a payment, under its id, with its missing deliveries. A stored event or delivery
 * is not changed, because the merchant may have it. A lost movement's event takes its time from its deliveries.
 */
export async function eventSteps(
  deps: RecountDeps,
  payment: Payment,
  name: string,
): Promise<Steps<string>> {
  const stored = await storedEvent(deps, payment, name)
  if (stored)
    return { ...(await lostDeliveries(deps, stored.event)), [name]: eventExists(stored.event) }
  const first = await announceAgain(deps, payment, name, undefined)
  const ids = first.deliveries.map(({ delivery }) => delivery.deliveryId)
  const existing = await findDeliveries(deps, ids)
  const { steps } = await announceAgain(deps, payment, name, existing[0]?.firedAt)
  const stands = new Set<string>(['event', ...existing.map(({ deliveryId }) => deliveryId)])
  const lost = Object.entries(steps).filter(([id]) => !stands.has(id))
  return { ...Object.fromEntries(lost), [name]: steps['event'] }
}

/** The stored event of this name; undefined if it is missing or unreadable. */
export async function storedEvent(
  deps: RecountDeps,
  payment: Pick<Payment, 'paymentId'>,
  name: string,
) {
  const item = await deps.table.get(eventKey(payment.paymentId, name))
  const event = ifValid(EventSchema, item)
  return event && item && { event, item }
}

/** Rebuilds the missing deliveries of a stored event, due immediately. Those of unknown endpoints stay lost. */
async function lostDeliveries(deps: RecountDeps, event: Event): Promise<Steps<string>> {
  const ids = event.endpointIds.map((endpointId) => deliveryIdFor(event.eventId, endpointId))
  const existing = await findDeliveries(deps, ids)
  const lost = new Set(event.endpointIds).difference(
    new Set(existing.map(({ endpointId }) => endpointId)),
  )
  const endpoints = await Promise.all(
    [...lost].map((endpointId) => findEndpointEver(deps, { ...event, endpointId })),
  )
  const deliveries = endpoints.flatMap((one) =>
    one ? [newDelivery(event, one, event.firedAt)] : [],
  )
  return Object.fromEntries(
    deliveries.map((delivery) => [delivery.deliveryId, insertDelivery(delivery)]),
  )
}

/** Rebuilds an event of the payment with its original content. */
async function announceAgain(
  deps: RecountDeps,
  payment: Payment,
  name: string,
  firedAt: Timestamp | undefined,
) {
  const movement = payment.movements.find((one) => reversedEventName(one) === name)
  if (movement === undefined) return announcementOf(deps, asAnnounced(payment))
  // Movements of an open payment are announced with the estimated fee.
  const isEstimated = movement.postedAt === undefined || movement.postedAt === payment.postedAt
  const moved = asMovedBy(isEstimated ? asAnnounced(payment) : payment, movement)
  return announcementOfMovement(deps, moved, firedAt ?? movement.postedAt ?? movement.at)
}

/** The payment as its status was announced: with its estimated fee, unless the fee was final at success. */
function asAnnounced(payment: Payment): Payment {
  return payment.finalFee?.invoiced === true && payment.finalFee.at === payment.paidAt
    ? payment
    : asEstimated(payment)
}
