import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import { type Cached, isFresh } from '../memory.ts'
import { eventKey } from '../table/keys.ts'
import { addMs, SECOND_MS } from '../time.ts'
import type { NamedEvent } from './event-store.ts'

const BodyOnly = v.object({ body: v.string() })

/** The deliveries of an event are sent at about the same time, so its bytes are kept for a moment. */
const BODIES_KEPT = 100
/** Only an erasure changes the bytes, and it is refused while a delivery is in progress. */
const BODY_KEPT_MS = 10 * SECOND_MS
type CachedBody = Cached & { readonly reading: Promise<string | undefined> }

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
  if (known && isFresh(known, from)) return known.reading
  const reading = readBody(deps, event)
  if (kept.size >= BODIES_KEPT) kept.clear()
  kept.set(key, { reading, from, until: addMs(from, BODY_KEPT_MS) })
  const forget = () => void (kept.get(key)?.reading === reading && kept.delete(key))
  reading.then((body) => body ?? forget(), forget)
  return reading
}

const readBody = async (deps: TableDeps, { paymentId, name }: NamedEvent): Promise<string | undefined> => {
  const item = await deps.table.getFields(eventKey(paymentId, name), ['body'])
  return item && v.parse(BodyOnly, item).body
}
