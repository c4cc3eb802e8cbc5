import type { Event } from '../event/event.ts'
import { deliveryIdFor } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { deliveryKey } from '../table/keys.ts'
import type { Step } from '../table/step.ts'
import type { Steps } from '../table/table.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import type { Announcement } from '../webhook/delivery/announce.ts'
import { insertDelivery, newDelivery } from '../webhook/delivery/delivery-store.ts'
import { EndpointSchema } from '../webhook/endpoint/endpoint.ts'
import { endpointItem } from '../webhook/endpoint/endpoint-store.ts'
import type { RecountDeps } from './plan.ts'

/** A lost event under its id, with its deliveries that are lost too. */
export async function announceAgain(
  deps: RecountDeps,
  name: string,
  { steps, deliveries }: Announcement,
): Promise<Steps<string>> {
  const items = await storedDeliveries(deps, deliveries)
  const lost = deliveries.flatMap(({ delivery }, at) =>
    items[at] === undefined ? [[delivery.deliveryId, insertDelivery(delivery)] as const] : [],
  )
  return { [name]: steps['event'], ...Object.fromEntries(lost) }
}

/** When the event of these deliveries fired, if one of them is left. */
export async function timeOfDeliveries(
  deps: RecountDeps,
  { deliveries }: Announcement,
): Promise<Timestamp | undefined> {
  const items = await storedDeliveries(deps, deliveries)
  return items.flatMap((item) => ifValid(TimestampSchema, item?.['listedAt']) ?? [])[0]
}

function storedDeliveries(deps: RecountDeps, deliveries: Announcement['deliveries']) {
  return deps.table.getMany(deliveries.map(({ delivery }) => deliveryKey(delivery.deliveryId)))
}

/** Due at once. A delivery to an unknown or unreadable endpoint stays lost. */
export async function lostDelivery(
  deps: RecountDeps,
  id: string,
  events: readonly Event[],
): Promise<Step | undefined> {
  for (const event of events) {
    const endpointId = event.endpointIds.find((one) => deliveryIdFor(event.eventId, one) === id)
    const item = endpointId && (await endpointItem(deps, { ...event, endpointId }))
    const endpoint = ifValid(EndpointSchema, item)
    if (endpoint) return insertDelivery(newDelivery(event, endpoint, event.firedAt))
  }
  return undefined
}
