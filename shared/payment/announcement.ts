import * as v from 'valibot'
import type { Deps, TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import {
  disputedEventName,
  type Event,
  envelopeBody,
  heldEventName,
  reversedEventName,
  STATUS_EVENT_TYPES,
  typeOfEvent,
} from '../event/event.ts'
import { putEvent } from '../event/event-store.ts'
import { EventSchema } from '../event/read-events.ts'
import { type ClientId, eventIdFor, subjectOfPayment } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { loggedPayment } from '../log.ts'
import { FAILURE_REASONS } from '../payment-status.ts'
import type { Steps } from '../table/table.ts'
import { addMs, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'
import {
  newDelivery,
  putDelivery,
  sendDeliveryMessages,
} from '../webhook/delivery/delivery-store.ts'
import { type Endpoint, laneOf, subscribes } from '../webhook/endpoint/endpoint.ts'
import { liveEndpoints } from '../webhook/endpoint/endpoint-store.ts'
import type { HeldMoney, Payment } from './payment.ts'
import { toDisputedData, toHeldData, toReversedData, toWebhookData } from './payment-dto.ts'

/** The longest time between the read of the endpoints and the last try of the transaction. */
const FRESH_MS = 5 * SECOND_MS

type EndpointsRead = {
  readonly endpoints: Promise<readonly Endpoint[]>
  readonly readAt: Timestamp
}
export type AnnounceDeps = TableDeps & {
  /** The reads that the payments of one page share; absent: each payment reads for itself. */
  readonly endpointsOf?: (clientId: ClientId, now: Timestamp) => EndpointsRead
}

type Announcement = Awaited<ReturnType<typeof announce>>

/** Announces the payment's last transition. `cancelled` has no event (spec 6.1). */
export async function announcementOf(deps: AnnounceDeps, payment: Payment): Promise<Announcement> {
  const name = STATUS_EVENT_TYPES.find((type) => type === `payment.${payment.status}`)
  const firedAt = payment.transitions.at(-1)?.at ?? payment.createdAt
  return name === undefined
    ? { steps: {}, deliveries: [], freshUntil: addMs(firedAt, FRESH_MS) }
    : announce(deps, name, payment, { data: toWebhookData(payment), firedAt })
}

/**
 * Steps of an event and of a delivery to each endpoint that subscribes to it (design section 4,
 * Announce). All ids are derived, so a retry of the transaction writes the same items. The caller
 * adds the steps to the transaction that makes the event true, and may try it until `freshUntil`.
 * Later the endpoints are read again.
 */
async function announce(
  deps: AnnounceDeps,
  name: string,
  { paymentId, clientId }: Payment,
  { data, firedAt }: { readonly data: object; readonly firedAt: Timestamp },
) {
  const type = typeOfEvent(name)
  const subject = subjectOfPayment(paymentId)
  const eventId = eventIdFor(subject, name)
  const sharedRead = deps.endpointsOf?.(clientId, firedAt)
  const endpoints = await (sharedRead?.endpoints ?? liveEndpoints(deps, clientId))
  const deliveries = endpoints
    .filter((endpoint) => subscribes(endpoint, type))
    .map((endpoint) => ({
      delivery: newDelivery({ eventId, name, firedAt, subject }, endpoint, firedAt),
      lane: laneOf(endpoint),
    }))
  const body = envelopeBody(type, eventId, firedAt, data)
  const endpointIds = deliveries.map(({ delivery }) => delivery.endpointId)
  const event = putEvent({ eventId, name, subject, clientId, firedAt, body, endpointIds })
  const puts = deliveries.map(
    ({ delivery }) => [delivery.deliveryId, putDelivery(delivery)] as const,
  )
  const freshUntil = addMs(sharedRead?.readAt ?? firedAt, FRESH_MS)
  const steps: Steps<string> = { event, ...Object.fromEntries(puts) }
  return { steps, deliveries, freshUntil }
}

/**
 * One read of endpoints serves one client's payments of a page (design section 4). A failed read is
 * forgotten.
 */
export function readsOfPage(deps: TableDeps): Required<AnnounceDeps>['endpointsOf'] {
  const reads = new Map<ClientId, EndpointsRead>()
  return (clientId, now) => {
    const lastRead = reads.get(clientId)
    // The other half of the time is for the payment's transaction.
    if (lastRead && lastRead.readAt <= now && now < addMs(lastRead.readAt, FRESH_MS / 2))
      return lastRead
    const read = { endpoints: liveEndpoints(deps, clientId), readAt: now }
    reads.set(clientId, read)
    read.endpoints.catch(() => reads.get(clientId) === read && reads.delete(clientId))
    return read
  }
}

/** Announces the newest movement of the payment's money (design section 8). */
export async function announcementOfMovement(deps: AnnounceDeps, payment: Payment) {
  const movement = payment.movements.at(-1)
  assertInvariant(movement !== undefined, 'a payment whose money moved has a movement')
  return announce(deps, reversedEventName(movement), payment, {
    data: toReversedData(payment, movement),
    firedAt: movement.notedAt,
  })
}

/** Announces the payment's dispute, once for each state (design section 14). */
export function announcementOfDispute(
  deps: AnnounceDeps,
  payment: Payment,
  dispute: NonNullable<Payment['dispute']>,
  firedAt: Timestamp,
) {
  return announce(deps, disputedEventName(dispute.caseId, dispute.state), payment, {
    data: toDisputedData(payment, dispute),
    firedAt,
  })
}

/** Announces held money of the payment, once for each of its statuses (design section 8). */
export function announcementOfHeld(
  deps: AnnounceDeps,
  payment: Payment,
  held: HeldMoney,
  firedAt: Timestamp,
) {
  return announce(deps, heldEventName(held.suspenseId, held.status), payment, {
    data: toHeldData(payment, held),
    firedAt,
  })
}

/** After a failed send, which is logged, due work sends the deliveries. */
export async function sendAnnouncement(
  deps: Pick<Deps, 'queues' | 'log'>,
  { deliveries }: Pick<Announcement, 'deliveries'>,
): Promise<void> {
  const deliveriesToSend = deliveries.filter(({ delivery }) => delivery.status === 'scheduled')
  if (deliveriesToSend.length === 0) return
  try {
    await sendDeliveryMessages(deps, deliveriesToSend)
  } catch (error) {
    deps.log.error(
      'delivery.not_sent',
      { event_id: deliveriesToSend[0]?.delivery.eventId, deliveries: deliveriesToSend.length },
      error,
    )
  }
}

/** A payment as its last transition leaves it, and the steps that write it. */
type Transition = { readonly payment: Payment; readonly steps: Steps<string> }

/** What an event says of the transition that it announced. */
export type AnnouncedEnd = v.InferOutput<typeof AnnouncedEndSchema> & { readonly at: Timestamp }

const AnnouncedEndSchema = v.object({
  failure_reason: v.optional(v.picklist(FAILURE_REASONS)),
  payment_destination: v.optional(v.string()),
  created_at: v.optional(TimestampSchema),
  paid_at: v.optional(TimestampSchema),
})

export function announcedEnd({ body, firedAt: at }: Pick<Event, 'body' | 'firedAt'>): AnnouncedEnd {
  const { data } = v.parse(v.object({ data: AnnouncedEndSchema }), JSON.parse(body))
  return { ...data, at }
}

/**
 * Commits the transition that ended a payment, and sends its deliveries. After a restore the table
 * may have the event alone. Then the transition takes the time that the event announced, so that
 * event and payment agree. `mayTake`: whether the event may be of this transition.
 */
export async function commitTransition(
  deps: AnnounceDeps & Pick<Deps, 'queues' | 'log' | 'now'>,
  plan: (end: AnnouncedEnd) => Transition,
  mayTake = async () => true,
  at = deps.now(),
) {
  const transition = plan({ at })
  const announcement = await announcementOf(deps, transition.payment)
  const outcome = await deps.table.transact(
    { ...transition.steps, ...announcement.steps },
    announcement.freshUntil,
  )
  if (outcome.applied) {
    await reportTransition(deps, transition, announcement)
    return { outcome, payment: transition.payment }
  }
  const event = outcome.refusedBy === 'event' ? ifValid(EventSchema, outcome.item) : undefined
  const announced = event && plan(announcedEnd(event))
  const isSame = event && announced && isAnnouncedBy(announced.payment, event)
  if (!isSame || !(await mayTake())) return { outcome, payment: transition.payment }
  const taken = await deps.table.transact(announced.steps)
  if (taken.applied) await reportTransition(deps, announced, { deliveries: [] })
  return { outcome: taken, payment: announced.payment }
}

function isAnnouncedBy(payment: Payment, { name, type, eventId, firedAt, body }: Event): boolean {
  const own = envelopeBody(type, eventId, firedAt, toWebhookData(payment))
  return name === `payment.${payment.status}` && own === body
}

async function reportTransition(
  deps: Pick<Deps, 'queues' | 'log'>,
  { payment }: Transition,
  announcement: Pick<Announcement, 'deliveries'>,
): Promise<void> {
  const lastTransition = payment.transitions.at(-1)
  assertInvariant(
    lastTransition !== undefined && lastTransition.status !== 'pending',
    'a payment ends by its last transition',
  )
  // With 0 deliveries, this line shows that no endpoint of the merchant gets the event.
  const fields = {
    source: lastTransition.source,
    deliveries: announcement.deliveries.length,
    failure_reason: payment.failureReason,
  }
  deps.log.info(`payment.${lastTransition.status}`, { ...loggedPayment(payment), ...fields })
  await sendAnnouncement(deps, announcement)
}
