import type { Json } from './json-schema-of.ts'

/** What webhooks carry, of one event or of any. */
export const eventEnvelope = (event: Json, data: Json): Json => ({
  description: 'The body of a webhook. It may gain fields: ignore what you do not know.',
  type: 'object',
  required: ['event', 'event_id', 'timestamp', 'data'],
  properties: {
    event,
    event_id: { type: 'string', format: 'uuid', description: 'The same in every attempt and at every endpoint.' },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened, not when it was sent.' },
    data,
  },
})
