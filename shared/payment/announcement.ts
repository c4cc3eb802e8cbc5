import type { Deps } from '../deps.ts'
import { envelopeBody } from '../event/envelope-body.ts'
import type { EventType } from '../event/event.ts'
import { putEvent } from '../event/event-store.ts'
import { eventIdFor } from '../ids.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { ownerOf } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { putDelivery } from '../webhook/delivery/delivery-store.ts'
import { newDelivery } from '../webhook/delivery/new-delivery.ts'
import { type InLane, sendDeliveryMessages } from '../webhook/delivery/send-delivery-message.ts'
import { subscribes } from '../webhook/endpoint/endpoint.ts'
import { liveEndpoints } from '../webhook/endpoint/endpoint-store.ts'
import { laneOf } from '../webhook/endpoint/lane.ts'
import type { Payment } from './payment.ts'
import { toWebhookData } from './payment-dto.ts'

/** The event each status announces. `cancelled` has none: the spec lists three (spec 6.1). */
const EVENT_OF: Readonly<Partial<Record<PaymentStatus, EventType>>> = {
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  expired: 'payment.expired',
}

/** Who is told of an event. Its steps ride in the transaction that makes the event true. */
export type Announcement = {
  readonly steps: Steps<string>
  /** One for each endpoint that wants the event; those of disabled endpoints are skipped from birth. */
  readonly deliveries: readonly InLane[]
}

const NOTHING: Announcement = { steps: {}, deliveries: [] }

/**
 * The event of a payment's new status, and a delivery of it for each endpoint that wants it (design section 4,
 * Announce). The key of the event allows one for each payment and type, and every id is derived from it: a second try of
 * the transaction writes the same. The deliveries are the event's: they need no condition of their own.
 */
export const announcementOf = async (
  deps: Pick<Deps, 'table'>,
  payment: Payment,
  firedAt: Timestamp,
): Promise<Announcement> => {
  const type = EVENT_OF[payment.status]
  if (type === undefined) return NOTHING
  const { paymentId, clientId } = payment
  const eventId = eventIdFor(paymentId, type)
  const endpoints = await liveEndpoints(deps, clientId)
  const deliveries = endpoints
    .filter((endpoint) => subscribes(endpoint, type))
    .map((endpoint) => ({
      delivery: newDelivery({ eventId, eventType: type, firedAt, paymentId }, endpoint, firedAt),
      lane: laneOf(endpoint),
    }))
  const body = envelopeBody(type, eventId, firedAt, toWebhookData(payment))
  const event = putEvent({ eventId, type, clientId, paymentId, firedAt, body }, ownerOf(clientId, payment.part))
  const puts = deliveries.map(({ delivery }) => [delivery.deliveryId, putDelivery(delivery)] as const)
  return { steps: { event, ...Object.fromEntries(puts) }, deliveries }
}

/**
 * Has workers look at what a committed announcement has to deliver. A failure is logged and costs time only: the
 * deliveries are due, and due work sends what was not sent.
 */
export const tellWorkers = async (deps: Pick<Deps, 'queues' | 'log'>, { deliveries }: Announcement): Promise<void> => {
  const wanted = deliveries.filter(({ delivery }) => delivery.status === 'scheduled')
  if (wanted.length === 0) return
  try {
    await sendDeliveryMessages(deps, wanted)
  } catch (error) {
    const ids = { event_id: wanted[0]?.delivery.eventId, deliveries: wanted.length }
    deps.log.error('delivery.not_sent', ids, error)
  }
}
