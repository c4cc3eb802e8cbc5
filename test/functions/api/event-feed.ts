import type { Event } from '../../../shared/event/event.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { isNew } from '../../../shared/table/condition.ts'
import { eventKey, ownerOf } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
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
  await deps.table.write(put(eventKey(event.paymentId, event.type), { ...event, ...index }, isNew))
  return event
}

export const place = ({ firedAt, eventId }: Event) => `${firedAt} ${eventId}`
export const inOrder = (events: readonly Event[]) => events.toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
const bodies = (events: readonly Event[]) => events.map(({ body }) => body)

/** The answer's own text around the envelopes. */
export const page = (events: readonly Event[], { body }: ApiResponse, hasMore = false) =>
  `{"data":[${bodies(events).join()}],"next":${JSON.stringify(body['next'])},"has_more":${hasMore}}`

export const idsIn = ({ body }: ApiResponse) => (body['data'] as { event_id: string }[]).map(({ event_id: id }) => id)
export const nextOf = ({ body }: ApiResponse) => ({ after: String(body['next']) })

export const cursorOf = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url')

/** The cursor behind an event, as an answer gives it. */
export const cursorFor = ({ eventId, paymentId, type, firedAt }: Event): string =>
  cursorOf({ event_id: eventId, payment_id: paymentId, type, fired_at: firedAt })
