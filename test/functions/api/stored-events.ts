import type { Event } from '../../../shared/event/event.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { eventKey, ownerOf } from '../../../shared/table/keys.ts'
import { isNew, put } from '../../../shared/table/step.ts'
import type { Timestamp } from '../../../shared/time.ts'
import type { ApiResponse } from '../../support/api-event.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { anEvent } from '../../support/webhook-builders.ts'

/** An event's row in a part of its client. */
export const eventRow = async (
  deps: TestDeps,
  clientId: ClientId,
  firedAt: Timestamp,
  { part = 0, ...fields }: Partial<Event> & { readonly part?: number } = {},
): Promise<Event> => {
  const event = anEvent(firedAt, { clientId, ...fields })
  const index = { owner: ownerOf(clientId, part), entity: 'event', listedAt: firedAt, id: event.eventId }
  await deps.table.write(put(eventKey(event.paymentId, event.name), { ...event, ...index }, isNew))
  return event
}

const place = ({ firedAt, eventId }: Event) => `${firedAt} ${eventId}`
export const inOrder = (events: readonly Event[]) => events.toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
export const idsIn = ({ body }: ApiResponse) => (body['data'] as { event_id: string }[]).map(({ event_id: id }) => id)
export const nextOf = ({ body }: ApiResponse) => ({ after: String(body['next']) })
