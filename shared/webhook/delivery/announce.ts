import type { Deps, ListDeps } from '../../deps.ts'
import { type Event, envelopeBody, typeOfEvent } from '../../event/event.ts'
import { putEvent } from '../../event/event-store.ts'
import { type ClientId, eventIdFor } from '../../ids.ts'
import type { Steps } from '../../table/table.ts'
import { addMs, SECOND_MS, type Timestamp } from '../../time.ts'
import { type Endpoint, laneOf, subscribes } from '../endpoint/endpoint.ts'
import { liveEndpoints } from '../endpoint/endpoint-store.ts'
import { newDelivery, putDelivery, sendDeliveryMessages } from './delivery-store.ts'

/** The longest time between the read of the endpoints and the last try of the transaction. */
export const FRESH_MS = 5 * SECOND_MS

type EndpointsRead = {
  readonly endpoints: Promise<readonly Endpoint[]>
  readonly readAt: Timestamp
}
export type AnnounceDeps = ListDeps & {
  /** Absent: each payment reads for itself. */
  readonly endpointsOf?: (clientId: ClientId, now: Timestamp) => EndpointsRead
}

export type Announcement = Awaited<ReturnType<typeof announce>>

/** What an event announces. Its type is the beginning of its name. */
type Fact = Pick<Event, 'name' | 'subject' | 'clientId' | 'firedAt'> & { readonly data: object }

/**
 * Steps of an event and of a delivery to each endpoint that subscribes to it (design section 4,
 * Announce). All ids are derived, so a retry writes the same items. The caller adds the steps to
 * the transaction that makes the event true, and may try it until `freshUntil`. Later the endpoints
 * are read again.
 */
export async function announce(
  deps: AnnounceDeps,
  { name, subject, clientId, data, firedAt }: Fact,
) {
  const type = typeOfEvent(name)
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
export function readsOfPage(deps: ListDeps): Required<AnnounceDeps>['endpointsOf'] {
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
