import { toJson } from '../json.ts'
import type { Timestamp } from '../time.ts'

/** The webhook's body (spec 6.2), built once. Every attempt to every endpoint signs and sends these bytes. */
export const envelopeBody = (event: string, eventId: string, timestamp: Timestamp, data: object): string =>
  toJson({ event, event_id: eventId, timestamp, data })
