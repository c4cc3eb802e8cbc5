import type { Timestamp } from '../time.ts'

/** The webhook's body (spec 6.2), made once: these bytes are signed and sent by every attempt to every endpoint. */
export const envelopeBody = (event: string, eventId: string, timestamp: Timestamp, data: object): string =>
  JSON.stringify({ event, event_id: eventId, timestamp, data })
