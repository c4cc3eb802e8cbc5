import * as v from 'valibot'
import type { Deps, StoreDeps } from '../deps.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import { MOST_MOVEMENTS } from '../journal/payment-money.ts'
import { toItem } from '../table/attributes.ts'
import { EVENT_SK_PREFIX, eventKey, foundKey, ownersOf, paymentKey } from '../table/keys.ts'
import { mergedPages, shareOf } from '../table/merged-pages.ts'
import { above, all, equals, exists, guard, isNew, put, type Step, update } from '../table/step.ts'
import { addMs, END_OF_TIME, SECOND_MS, type Timestamp } from '../time.ts'
import { type Event, type EventPosition, EventPositionSchema, EventSchema } from './event.ts'
import { expiresAfter, RETENTION } from './retention.ts'
import { withoutCustomer } from './without-customer.ts'

/** The second part of the key of a client's event list. */
const EVENT_ENTITY = 'event'

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

type NamedEvent = Pick<Event, 'paymentId' | 'name'>

/** The event exists: its transaction writes no other. */
export const eventIsThere = ({ paymentId, name }: NamedEvent): Step => guard(eventKey(paymentId, name), exists)

const BodyOnly = v.object({ body: v.string() })

/** The deliveries of an event are sent at about the same time, so its bytes are kept for a moment. */
const BODIES_KEPT = 100
/** Only an erasure changes the bytes, and it is refused while a delivery is in progress. */
const BODY_KEPT_MS = 10 * SECOND_MS
type CachedBody = {
  readonly reading: Promise<string | undefined>
  readonly from: Timestamp
  readonly until: Timestamp
}

declare module '../memory.ts' {
  interface Memory {
    /** By payment and name. */
    eventBodies?: Map<string, CachedBody>
  }
}

/** The bytes of an event, as text; undefined when there is no such event. */
export const findEventBody = async (
  deps: StoreDeps & Pick<Deps, 'memory'>,
  event: NamedEvent,
): Promise<string | undefined> => {
  const key = `${event.paymentId} ${event.name}`
  const kept = (deps.memory.eventBodies ??= new Map())
  const known = kept.get(key)
  const from = deps.now()
  if (known !== undefined && known.from <= from && from < known.until) return known.reading
  const reading = readBody(deps, event)
  if (kept.size >= BODIES_KEPT) kept.clear()
  kept.set(key, { reading, from, until: addMs(from, BODY_KEPT_MS) })
  const forget = () => void (kept.get(key)?.reading === reading && kept.delete(key))
  reading.then((body) => body ?? forget(), forget)
  return reading
}

const readBody = async (deps: Pick<Deps, 'table'>, { paymentId, name }: NamedEvent): Promise<string | undefined> => {
  const item = await deps.table.getFields(eventKey(paymentId, name), ['body'])
  return item && v.parse(BodyOnly, item).body
}

/** Removes the customer from an event's data. False when it has none; refused when the bytes have changed since. */
export const eraseFromEvent = async (deps: Pick<Deps, 'table'>, { paymentId, name, body }: Event): Promise<boolean> => {
  const erased = withoutCustomer(body)
  if (erased === undefined) return false
  const step = update(eventKey(paymentId, name), { set: { body: erased } }, equals('body', body))
  return (await deps.table.write(step)).applied
}

/** One event of its status, and one of each movement of its money. */
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
  /** How many parts the client has. */
  readonly parts: number
  readonly since: Timestamp
  /** That time included; without it, to the end. */
  readonly until?: Timestamp
  readonly limit: number
  readonly after: EventPosition | undefined
}

/** Positions of a client's events that fired in a span of time, oldest first, after a given one. */
export const listEventPositions = async (
  deps: Pick<Deps, 'table'>,
  { clientId, parts, since, until, limit, after }: EventsSince,
): Promise<readonly EventPosition[]> => {
  const partitions = ownersOf(clientId, parts).map((owner) => [owner, EVENT_ENTITY])
  const range = { between: [since, until ?? END_OF_TIME] } as const
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

/** Positions of a client's events that fired in a span, its end included, page by page. */
export const eventPositionPages = async function* (
  deps: Pick<Deps, 'table'>,
  {
    clientId,
    parts,
    between,
  }: Pick<EventsSince, 'clientId' | 'parts'> & { readonly between: readonly [string, string] },
): AsyncGenerator<readonly EventPosition[]> {
  const partitions = ownersOf(clientId, parts).map((owner) => [owner, EVENT_ENTITY])
  const limit = shareOf(POSITIONS_PAGE, partitions)
  for await (const { items } of mergedPages(deps, { index: 'by-owner', partitions, range: { between }, limit })) {
    yield items.map((item) => v.parse(EventPositionSchema, { ...item, ...foundKey('PAYMENT', item) }))
  }
}
const POSITIONS_PAGE = 500

/** The events at these positions, strongly consistent; undefined where one is gone. */
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

const TtlOnly = v.object({ ttl: v.number() })

/**
 * Keeps an event that is sent again for as long as a new one. Undefined when it is kept long enough already. The step
 * is refused when the event has expired.
 */
export const keepEvent = async (
  deps: StoreDeps,
  { paymentId, name, firedAt }: NamedEvent & Pick<Event, 'firedAt'>,
): Promise<Step | undefined> => {
  const now = deps.now()
  if (now < addMs(firedAt, RETENTION.eventMs - RETENTION.keepMs)) return undefined
  const item = await deps.table.getFields(eventKey(paymentId, name), ['ttl'])
  if (item && v.parse(TtlOnly, item).ttl > expiresAfter(now, RETENTION.keepMs)) return undefined
  return update(
    eventKey(paymentId, name),
    { set: { ttl: expiresAfter(now, RETENTION.eventMs) } },
    all(exists, above('ttl', expiresAfter(now, 0))),
  )
}
