import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import { MOST_MOVEMENTS } from '../journal/payment-money.ts'
import { toItem } from '../table/attributes.ts'
import { above, all, exists, isNew } from '../table/condition.ts'
import { EVENT_SK_PREFIX, eventKey, foundKey, ownersOf, paymentKey } from '../table/keys.ts'
import { mergedPages, shareOf } from '../table/merged-pages.ts'
import { put, type Step, update } from '../table/step.ts'
import { addMs, END_OF_TIME, type Timestamp } from '../time.ts'
import { type Event, type EventPosition, EventPositionSchema, EventSchema } from './event.ts'
import { expiresAfter, RETENTION } from './retention.ts'

/** Second part of the key of a client's list of events. */
const EVENT_ENTITY = 'event'

/** Puts a new event beside its payment. Its key allows one of each name; all that is left out is in keys and indexes. */
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

type NamedEvent = Pick<Event, 'paymentId' | 'name'>

const BodyOnly = v.object({ body: v.string() })

/** An event goes to several endpoints, and its bytes never change: the last ones are kept, by the table they are from. */
const BODIES_KEPT = 100
const bodies = new WeakMap<Deps['table'], Map<string, Promise<string | undefined>>>()

/** The bytes of an event, as text, without anything else that is stored of it; undefined when there is no such event. */
export const findEventBody = async (deps: Pick<Deps, 'table'>, event: NamedEvent): Promise<string | undefined> => {
  const key = `${event.paymentId} ${event.name}`
  const kept = bodies.get(deps.table) ?? new Map<string, Promise<string | undefined>>()
  const known = kept.get(key)
  if (known !== undefined) return known
  const reading = readBody(deps, event)
  // Kept while it is read, too: deliveries of one event come together.
  if (kept.size >= BODIES_KEPT) kept.clear()
  bodies.set(deps.table, kept.set(key, reading))
  const forget = () => void (kept.get(key) === reading && kept.delete(key))
  reading.then((body) => body ?? forget(), forget)
  return reading
}

const readBody = async (deps: Pick<Deps, 'table'>, { paymentId, name }: NamedEvent): Promise<string | undefined> => {
  const item = await deps.table.getFields(eventKey(paymentId, name), ['body'])
  return item && v.parse(BodyOnly, item).body
}

/** One of its status, and one of each movement of its money. */
const MOST_OF_A_PAYMENT = 1 + MOST_MOVEMENTS

/** The events of a payment. */
export const listPaymentEvents = async (deps: Pick<Deps, 'table'>, paymentId: PaymentId): Promise<readonly Event[]> => {
  const { items } = await deps.table.query({
    partition: [paymentKey(paymentId).pk],
    range: { beginsWith: EVENT_SK_PREFIX },
    limit: MOST_OF_A_PAYMENT,
  })
  return items.map((item) => v.parse(EventSchema, item))
}

type EventsSince = {
  readonly clientId: ClientId
  /** How many the client has. */
  readonly parts: number
  readonly since: Timestamp
  readonly limit: number
  readonly after: EventPosition | undefined
}

/** Where so many of a client's events stand that fired at or after a time, oldest first, behind one of them. */
export const listEventPositions = async (
  deps: Pick<Deps, 'table'>,
  { clientId, parts, since, limit, after }: EventsSince,
): Promise<readonly EventPosition[]> => {
  const partitions = ownersOf(clientId, parts).map((owner) => [owner, EVENT_ENTITY])
  const range = { between: [since, END_OF_TIME] } as const
  const pages = mergedPages(
    deps,
    { index: 'by-owner', partitions, range, limit: shareOf(limit, partitions) },
    after && { ...eventKey(after.paymentId, after.name), ...toItem({ listedAt: after.firedAt, id: after.eventId }) },
  )
  const found: EventPosition[] = []
  for await (const { items } of pages) {
    found.push(...items.map((item) => v.parse(EventPositionSchema, { ...item, ...foundKey('PAYMENT', item) })))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/** The events that stand there, strongly consistent; one that is gone is undefined in its place. */
export const findEvents = async (
  deps: Pick<Deps, 'table'>,
  positions: readonly EventPosition[],
): Promise<readonly (Event | undefined)[]> => {
  const items = await deps.table.getMany(positions.map(({ paymentId, name }) => eventKey(paymentId, name)))
  return items.map((item) => item && v.parse(EventSchema, item))
}

/** A client's events as above, and where the page ended if there are more. */
export const listClientEventsSince = async (
  deps: Pick<Deps, 'table'>,
  { limit, ...input }: EventsSince,
): Promise<{ readonly events: readonly Event[]; readonly next: EventPosition | undefined }> => {
  const positions = await listEventPositions(deps, { ...input, limit: limit + 1 })
  const page = positions.slice(0, limit)
  const events = (await findEvents(deps, page)).filter((event) => event !== undefined)
  return { events, next: positions.length > limit ? page.at(-1) : undefined }
}

/**
 * Keeps an event whose bytes are sent again for as long as if it were new. Nothing for a young one, which outlives its
 * deliveries as it is. Refused when its time has passed.
 */
export const keepEvent = (
  { paymentId, name, firedAt }: NamedEvent & Pick<Event, 'firedAt'>,
  now: Timestamp,
): Step | undefined =>
  now < addMs(firedAt, RETENTION.eventMs - RETENTION.keepMs)
    ? undefined
    : update(
        eventKey(paymentId, name),
        { set: { ttl: expiresAfter(now, RETENTION.eventMs) } },
        all(exists, above('ttl', expiresAfter(now, 0))),
      )
