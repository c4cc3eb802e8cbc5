import type { Deps, StoreDeps } from '../deps.ts'
import { isFresh } from '../memory.ts'
import type { Item } from '../table/attributes.ts'
import { deflateText, inflateText } from '../table/deflated-text.ts'
import { eventKey } from '../table/keys.ts'
import { exists, guard, isNew, put, type Step } from '../table/step.ts'
import { addMs, expiresAfter, SECOND_MS } from '../time.ts'
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
 * An event's deliveries run at about the same time, so a function keeps its bytes for ten seconds.
 * Only an erasure changes them, and is refused while a delivery is in progress; a later delivery
 * reads them anew. Undefined if the event is missing, or its bytes cannot be read or name another
 * client.
 */
export async function findEventBody(
  deps: StoreDeps & Pick<Deps, 'memory'>,
  event: SoughtBody,
): Promise<string | undefined> {
  const key = eventKey(event.subject, event.name)
  if (event.isLate) return bodyIn(await deps.table.get(key, ['body']), event)
  const cacheKey = `${key.pk} ${key.sk} ${event.clientId}`
  const bodies = (deps.memory.eventBodies ??= new Map())
  const cached = bodies.get(cacheKey)
  const now = deps.now()
  if (cached && isFresh(cached, now)) return cached.reading
  const reading = deps.table.getFields(key, ['body']).then((item) => bodyIn(item, event))
  if (bodies.size >= 100) bodies.clear()
  bodies.set(cacheKey, { reading, from: now, until: addMs(now, 10 * SECOND_MS) })
  const forget = () => void (bodies.get(cacheKey)?.reading === reading && bodies.delete(cacheKey))
  reading.then((body) => body ?? forget(), forget)
  return reading
}

function bodyIn(item: Item | undefined, { clientId }: SoughtBody) {
  const body = inflateText(item?.['body'])
  return body !== undefined && isBodyOf(clientId, body) ? body : undefined
}
