import type { TableDeps } from '../deps.ts'
import { deflateText, inflateText } from '../table/deflated-text.ts'
import { eventKey } from '../table/keys.ts'
import { exists, guard, isNew, put, type Step } from '../table/step.ts'
import { expiresAfter } from '../time.ts'
import { type Event, isBodyOf, RETENTION } from './event.ts'

/**
 * The key allows one event of each name for a subject. The item repeats no field of keys or
 * indexes, and its bytes are deflated.
 */
export function putEvent(event: NewEvent): Step {
  return put(eventKey(event.subject, event.name), eventRow(event), isNew)
}

type NewEvent = Omit<Event, 'type' | 'storedBody'> & { readonly ttl?: number | undefined }

/** A redelivery keeps the event for longer. */
export function eventRow(event: NewEvent) {
  const { clientId, firedAt, eventId, body, endpointIds } = event
  return {
    body: deflateText(body),
    endpointIds: endpointIds.length > 0 ? endpointIds : undefined,
    owner: clientId,
    entity: 'event',
    listedAt: firedAt,
    id: eventId,
    ttl: event.ttl ?? expiresAfter(firedAt, RETENTION.eventMs),
  }
}

type NamedEvent = Pick<Event, 'subject' | 'name'>

export function requireEvent({ subject, name }: NamedEvent): Step {
  return guard(eventKey(subject, name), exists)
}

export function requireNoEvent({ subject, name }: NamedEvent): Step {
  return guard(eventKey(subject, name), isNew)
}

type SoughtBody = NamedEvent & {
  readonly clientId: string
  /** The event is sent again, or later than other deliveries: its customer may be erased by now. */
  readonly isLate: boolean
}

/**
 * Only an erasure changes the bytes, and is refused while a delivery is in progress. Undefined if
 * the event is missing, or its bytes cannot be read or name another client.
 */
export async function findEventBody(
  deps: TableDeps,
  { subject, name, clientId, isLate }: SoughtBody,
): Promise<string | undefined> {
  const key = eventKey(subject, name)
  const item = isLate
    ? await deps.table.get(key, ['body'])
    : await deps.table.getFields(key, ['body'])
  const body = inflateText(item?.['body'])
  return body !== undefined && isBodyOf(clientId, body) ? body : undefined
}
