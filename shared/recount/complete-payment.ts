import { eventNamesOf } from '../audit/judged/audit-event.ts'
import { estimateOf } from '../audit/judged/audit-payment.ts'
import type { JudgedPayment } from '../audit/judged/audit-payments.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { type Event, reversedEventName } from '../event/event.ts'
import { eventIsThere } from '../event/event-store.ts'
import { EventSchema } from '../event/read-events.ts'
import { deliveryIdFor, type EndpointId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { putEntry } from '../journal/entry-store.ts'
import type { Movement } from '../journal/payment-money.ts'
import { plus, ZERO } from '../money.ts'
import { announcementOf, announcementOfMovement } from '../payment/announcement.ts'
import type { Payment } from '../payment/payment.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { moneyStands } from '../posting/posting-store.ts'
import { eventKey } from '../table/keys.ts'
import type { Step } from '../table/step.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'
import { announced, findDeliveries, insertDelivery, newDelivery } from '../webhook/delivery/delivery-store.ts'
import { findEndpointEver } from '../webhook/endpoint/endpoint-store.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf, type StrayEvent, shiftedBy } from './repair.ts'

type Completion = { readonly of: readonly Difference[]; readonly steps: Steps<string> }

/** Rebuilds the events that the payment must have and that are missing. */
const completeEvents = (deps: RecountDeps, payment: Payment, differences: readonly Difference[]) => {
  const names = eventNamesOf(payment)
  const lost = differences.filter(
    ({ what, expected, found }) => what === 'event' && found === null && names.some((name) => name === expected),
  )
  return Promise.all(
    lost.map(async (one) => ({ of: [one], steps: await rebuiltEvent(deps, payment, String(one.expected)) })),
  )
}

/** Rebuilds the deliveries that an event of the payment names and that are missing. */
const completeDeliveries = async (deps: RecountDeps, payment: Payment, differences: readonly Difference[]) => {
  const lost = differences.filter(({ what, found }) => what === 'delivery' && found === null)
  if (lost.length === 0) return []
  const events = await Promise.all(eventNamesOf(payment).map((name) => storedEvent(deps, payment, name)))
  const steps = await Promise.all(
    events.map((stored) => (stored ? lostDeliveries(deps, stored.event) : Promise.resolve({}))),
  )
  return steps.flatMap((made) => {
    const of = lost.filter(({ id }) => id in made)
    return of.length === 0 ? [] : [{ of, steps: made }]
  })
}

/** Rebuilds the entries that the payment's fields imply and that are missing, each under its own key. */
const completeEntries = (
  deps: RecountDeps,
  books: ClientBooks,
  payment: Payment,
  differences: readonly Difference[],
): readonly Completion[] => {
  const of = differences.filter(({ what, found }) => what === 'entry' && found === 'not there')
  const ids = new Set(of.map(({ id }) => id))
  const entries = entriesOf(payment).filter(({ entryId }) => ids.has(entryId))
  if (entries.length === 0) return []
  const puts = entries.map((entry) => [entry.entryId, putEntry(payment, entry)] as const)
  const shift = shiftedBy(books, { before: payment, after: payment, entries, at: deps.now() })
  return [{ of, steps: { ...Object.fromEntries(puts), ...shift } }]
}

/**
 * Rebuilds a payment's lost events, deliveries and entries from its row, under their ids, in one transaction. Refused
 * if the payment's money or customer has changed after the read.
 */
export const completePayment = async (
  deps: RecountDeps,
  by: RecountBy,
  { books, judged: { payment, differences } }: { readonly books: ClientBooks; readonly judged: JudgedPayment },
): Promise<readonly Repair[]> => {
  if (payment === undefined) return []
  const completions = [
    ...(await completeEvents(deps, payment, differences)),
    ...(await completeDeliveries(deps, payment, differences)),
    ...completeEntries(deps, books, payment, differences),
  ]
  if (completions.length === 0) return []
  const of = completions.flatMap((one) => one.of)
  const steps = { ...Object.assign({}, ...completions.map((one) => one.steps)), payment: moneyStands(payment) }
  return [repairOf(deps, by, { subject: payment.paymentId, of, steps: () => steps })]
}

/** The payment with its estimated fee, unless the fee was final at success. */
const asEstimated = (payment: Payment): Payment => {
  const { finalFee, paidAt } = payment
  const estimate = finalFee?.invoiced === true && finalFee.at === paidAt ? undefined : estimateOf(payment)
  return estimate ? { ...payment, ...estimate, feeStatus: 'estimated' } : payment
}

/** The payment after one of its movements. Movements of an open payment are announced with the estimated fee. */
const asMovedBy = (payment: Payment, movement: Movement): Payment => {
  const movements = payment.movements.slice(0, payment.movements.indexOf(movement) + 1)
  const takenBackMinor = movements.reduce((sum, { tookMinor }) => plus(sum, tookMinor), ZERO)
  const moved = { ...payment, movements, takenBackMinor }
  return movement.postedAt === undefined || movement.postedAt === payment.postedAt ? asEstimated(moved) : moved
}

/** Rebuilds an event of the payment with its original content. */
const announceAgain = async (deps: RecountDeps, payment: Payment, name: string, firedAt: Timestamp | undefined) => {
  const movement = payment.movements.find((one) => reversedEventName(one) === name)
  if (movement === undefined) {
    const endedAt = payment.transitions.at(-1)?.at ?? payment.createdAt
    return announcementOf(deps, asEstimated(payment), endedAt)
  }
  return announcementOfMovement(deps, asMovedBy(payment, movement), firedAt ?? movement.postedAt ?? movement.at)
}

/**
 * The steps that write a lost event again, under its id, with its missing deliveries. An existing delivery is not
 * changed, because the merchant may have it. A movement's event takes its time from its deliveries.
 */
export const rebuiltEvent = async (deps: RecountDeps, payment: Payment, name: string): Promise<Steps<string>> => {
  const first = await announceAgain(deps, payment, name, undefined)
  const ids = first.deliveries.map(({ delivery }) => delivery.deliveryId)
  const existing = await findDeliveries(deps, ids)
  const rebuilt = await announceAgain(deps, payment, name, existing[0]?.firedAt)
  const known = new Set(existing.map(({ deliveryId }) => deliveryId))
  const lost = rebuilt.deliveries.map(({ delivery }) => delivery).filter(({ deliveryId }) => !known.has(deliveryId))
  return {
    [name]: rebuilt.steps['event'],
    ...Object.fromEntries(lost.map((delivery) => [delivery.deliveryId, insertDelivery(delivery)])),
  }
}

/** The stored event of this name; undefined if it is missing or unreadable. */
export const storedEvent = async (deps: RecountDeps, payment: Pick<Payment, 'paymentId'>, name: string) => {
  const [item] = await deps.table.getMany([eventKey(payment.paymentId, name)])
  const event = ifValid(EventSchema, item)
  return event && item && { event, item }
}

/** Rebuilds one delivery of a stored event, due immediately; undefined if its endpoint is unknown. */
const lostDelivery = async (deps: RecountDeps, event: Event, endpointId: EndpointId) => {
  const endpoint = await findEndpointEver(deps, event.clientId, endpointId)
  return endpoint && insertDelivery(newDelivery(announced(event), endpoint, event.firedAt))
}

export const lostDeliveries = async (deps: RecountDeps, event: Event): Promise<Readonly<Record<string, Step>>> => {
  const named = event.endpointIds.map((endpointId) => ({ endpointId, id: deliveryIdFor(event.eventId, endpointId) }))
  const existing = await findDeliveries(
    deps,
    named.map(({ id }) => id),
  )
  const lost = named.filter(({ id }) => !existing.some(({ deliveryId }) => deliveryId === id))
  const steps = await Promise.all(
    lost.map(async ({ endpointId, id }) => ({ id, step: await lostDelivery(deps, event, endpointId) })),
  )
  return Object.fromEntries(steps.flatMap(({ id, step }) => (step ? [[id, step]] : [])))
}

/** Keeps the event, because the merchant may have it, and rebuilds its lost deliveries. */
export const keptEvent = async (deps: RecountDeps, { event }: Pick<StrayEvent, 'event'>): Promise<Steps<string>> => ({
  ...(await lostDeliveries(deps, event)),
  [event.name]: eventIsThere(event),
})
