import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import { isFresh } from '../memory.ts'
import { eventKey } from '../table/keys.ts'
import { exists, guard, isNew, put, type Step } from '../table/step.ts'
import { addMs, expiresAfter, SECOND_MS } from '../time.ts'
import { type Event, RETENTION } from './event.ts'

export const EVENT_ENTITY = 'event'

/**
 * Writes a new event. Its key allows one event of each name for a payment. The item repeats no field of keys or indexes.
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

export const eventExists = ({ paymentId, name }: NamedEvent): Step => guard(eventKey(paymentId, name), exists)

const BodyOnly = v.optional(v.object({ body: v.string() }))

/** An event's deliveries run at about the same time, so a function keeps the event's bytes. */
const BODIES_KEPT = 100
/** Only an erasure changes the bytes, and it is refused while a delivery is in progress. */
const BODY_KEPT_MS = 10 * SECOND_MS

export const findEventBody = async (
  deps: StoreDeps & Pick<Deps, 'memory'>,
  event: NamedEvent,
): Promise<string | undefined> => {
  const key = `${event.paymentId} ${event.name}`
  const kept = (deps.memory.eventBodies ??= new Map())
  const known = kept.get(key)
  const from = deps.now()
  if (known && isFresh(known, from)) return known.reading
  const reading = readBody(deps, event)
  if (kept.size >= BODIES_KEPT) kept.clear()
  kept.set(key, { reading, from, until: addMs(from, BODY_KEPT_MS) })
  const forget = () => void (kept.get(key)?.reading === reading && kept.delete(key))
  reading.then((body) => body ?? forget(), forget)
  return reading
}

const readBody = async (deps: TableDeps, { paymentId, name }: NamedEvent) =>
  v.parse(BodyOnly, await deps.table.getFields(eventKey(paymentId, name), ['body']))?.body
