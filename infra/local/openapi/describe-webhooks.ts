import {
  DISPUTED_EVENT_TYPE,
  EVENT_TYPES,
  HELD_EVENT_TYPE,
  REVERSED_EVENT_TYPE,
  SETTLEMENT_EVENT_TYPES,
  TEST_EVENT_TYPE,
} from '../../../shared/event/event.ts'
import type { Json } from './json-schema-of.ts'
import type { RecordedWebhook } from './record-examples.ts'
import { eventEnvelope, refTo } from './response-schemas.ts'

const ANNOUNCED_EVENTS = [...EVENT_TYPES, TEST_EVENT_TYPE] as const
type AnnouncedEvent = (typeof ANNOUNCED_EVENTS)[number]

const SUMMARIES: Readonly<Record<AnnouncedEvent, string>> = {
  'payment.succeeded': 'The customer has paid: the payment is `succeeded` and credited.',
  'payment.failed': 'The payment failed permanently.',
  'payment.expired': 'The customer did not pay in time.',
  'payment.reversed':
    'The provider reversed money of a succeeded payment, or returned it. Sent only to ' +
    'endpoints that name this event.',
  'payment.disputed':
    'A customer disputes the payment, or the dispute has a new state. Sent only to endpoints ' +
    'that name this event.',
  'payment.held':
    'A customer paid money for the payment that is not credited, or this money went back. Sent ' +
    'only to endpoints that name this event.',
  'settlement.recorded':
    'A settlement was recorded: its payout follows. Sent only to endpoints that name this event.',
  'settlement.paid':
    'The transfer of a settlement was made. Sent only to endpoints that name this event.',
  'settlement.failed':
    'The bank refused the transfer of a settlement. Sent only to endpoints that name this event.',
  'gateway.test':
    'A test from an operator to one endpoint, for any event types. It belongs to no payment.',
}

const VERIFY = `Answer 2xx within 10 seconds. Any other result is a failed attempt; we make up to eight attempts within about two hours. A webhook may come more than once and out of order. Process each \`event_id\` once.

Verify the raw bytes of the body before you parse them. One of the two signatures is enough. \`X-Gateway-Signature\` is the hex of HMAC-SHA256 over the body, keyed with the whole text of the endpoint's secret. \`webhook-signature\` is the one of [Standard Webhooks](https://www.standardwebhooks.com): base64 of HMAC-SHA256 over \`webhook-id.webhook-timestamp.body\`, keyed with the base64-decoded bytes after \`whsec_\`. Refuse a \`webhook-timestamp\` that differs from your clock by minutes.`

const UUID: Json = { type: 'string', format: 'uuid' }

const HEADERS: Readonly<Record<string, { readonly description: string; readonly schema: Json }>> = {
  'X-Gateway-Event': { description: 'The `event` of the body.', schema: { type: 'string' } },
  'X-Gateway-Signature': {
    description: 'Hex of HMAC-SHA256 over the raw body.',
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
  'X-Gateway-Delivery-Id': {
    description:
      'The id of the delivery of this event to this endpoint. The same in every attempt.',
    schema: UUID,
  },
  'webhook-id': { description: 'The `event_id` of the body.', schema: UUID },
  'webhook-timestamp': {
    description: 'The time of this attempt, in seconds since 1970.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'webhook-signature': {
    description: '`v1,` and base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=$' },
  },
}

const TEST_DATA: Json = {
  type: 'object',
  required: ['client_id', 'endpoint_id'],
  properties: { client_id: UUID, endpoint_id: UUID },
}

export function describeWebhooks(webhooks: readonly RecordedWebhook[]): Json {
  return Object.fromEntries(
    ANNOUNCED_EVENTS.map((event) => {
      const example = webhooks.find(({ body }) => body['event'] === event)
      if (!example) throw new Error(`no webhook ${event} was recorded: add it to example-walk.ts`)
      return [event, describeWebhook(event, example)]
    }),
  )
}

function describeWebhook(event: AnnouncedEvent, { headers, body }: RecordedWebhook): Json {
  return {
    post: {
      operationId: event.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
      tags: ['Webhooks'],
      summary: SUMMARIES[event],
      description: VERIFY,
      // The signature headers authenticate a webhook.
      security: [],
      parameters: Object.entries(HEADERS).map(([name, { description, schema }]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema,
        example: headers[name.toLowerCase()],
      })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: eventEnvelope({ type: 'string', const: event }, dataOf(event)),
            example: body,
          },
        },
      },
      responses: {
        '2XX': { description: 'Accepted.' },
        '4XX': {
          description: 'Not accepted: we retry later. Answer 401 if the signature is wrong.',
        },
      },
    },
  }
}

function dataOf(event: AnnouncedEvent) {
  if (event === TEST_EVENT_TYPE) return TEST_DATA
  if (event === DISPUTED_EVENT_TYPE) return refTo('DisputedData')
  if (event === HELD_EVENT_TYPE) return refTo('HeldData')
  if (SETTLEMENT_EVENT_TYPES.some((type) => type === event)) return refTo('SettlementData')
  return refTo(event === REVERSED_EVENT_TYPE ? 'ReversedData' : 'WebhookData')
}
