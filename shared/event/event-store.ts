import { eventKey } from '../table/keys.ts'
import { exists, guard, isNew, put, type Step } from '../table/step.ts'
import { expiresAfter } from '../time.ts'
import { type Event, RETENTION } from './event.ts'

/** The second part of the key of a client's event list. */
export const EVENT_ENTITY = 'event'

/**
 * Writes a new event. Its key allows one of each name for a payment. Fields that keys and indexes contain are left out.
 */
export const putEvent = (event: Omit<Event, 'type' | 'clientId'>, owner: string): Step =>
  put(
    eventKey(event.paymentId, event.name),
    {
      body: event.body,
      ...(event.endpointIds.length > 0 && { endpointIds: event.endpointIds }),
      owner,
      entity: EVENT_ENTITY,
      listedAt: event.firedAt,
      id: event.eventId,
      ttl: expiresAfter(event.firedAt, RETENTION.eventMs),
    },
    isNew,
  )

export type NamedEvent = Pick<Event, 'paymentId' | 'name'>

/** The event exists: its transaction writes no other. */
export const eventIsThere = ({ paymentId, name }: NamedEvent): Step => guard(eventKey(paymentId, name), exists)
