import type { Json } from './json-schema-of.ts'

/** The schema of a webhook's body. */
export const eventEnvelope = (event: Json, data: Json): Json => ({
  description: 'The body of a webhook. It may get new fields: ignore fields that you do not know.',
  type: 'object',
  required: ['event', 'event_id', 'timestamp', 'data'],
  properties: {
    event,
    event_id: { type: 'string', format: 'uuid', description: 'The same in every attempt and at every endpoint.' },
    timestamp: { type: 'string', format: 'date-time', description: 'The time of the event, not of the webhook.' },
    data,
  },
})
