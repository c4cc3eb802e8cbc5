import * as v from 'valibot'
import { described, ID, id, oneOf, TIME, WHOLE } from '../../dto-field.ts'
import { WEBHOOK_ERRORS } from '../../send-webhook.ts'
import { DELIVERY_STATUSES } from './delivery.ts'

export const OwnDeliveryDtoSchema = v.object({
  id: id('The `X-Gateway-Delivery-Id` of its webhooks.'),
  event_id: id(
    'The `event_id` in their body. It is the same for every endpoint and every attempt.',
  ),
  event: v.string(),
  payment_id: v.optional(id('Absent unless the event is of a payment.')),
  settlement_id: v.optional(id('Absent unless the event is of a settlement.')),
  endpoint_id: ID,
  url: v.string(),
  status: oneOf(
    DELIVERY_STATUSES,
    '`abandoned` after eight attempts of a round; `skipped` if the endpoint was disabled or ' +
      'deleted, or the event was lost (`event_gone`).',
  ),
  next_attempt_at: described(v.nullable(TIME), 'Null if the delivery is not `scheduled`.'),
  created_at: TIME,
  attempts: described(
    v.array(
      v.object({
        number: WHOLE,
        at: TIME,
        duration_ms: WHOLE,
        http_status: described(v.nullable(WHOLE), 'Null if there was no answer.'),
        error: described(v.nullable(v.picklist(WEBHOOK_ERRORS)), 'Null if the attempt succeeded.'),
        response_body: described(
          v.nullable(v.string()),
          'The first 1 KB of the answer of your server.',
        ),
      }),
    ),
    'The newest 100, oldest first. A list may show fewer of each delivery, but always the ' +
      'newest.',
  ),
})

export type OwnDeliveryDto = v.InferOutput<typeof OwnDeliveryDtoSchema>

export const RedeliveredDtoSchema = v.object({
  count: count('The number of deliveries that were scheduled, again or for the first time.'),
  passed_over: v.optional(
    count(
      'The number of deliveries that already had ten rounds today. Send the request again ' +
        'after 00:00 UTC. Absent if there are none.',
    ),
  ),
  next: described(
    v.nullable(v.string()),
    'Send it as `cursor`, with the same `since` and `status`. Null if nothing is left.',
  ),
})

function count(what: string) {
  return described(v.pipe(v.number(), v.integer(), v.minValue(0)), what)
}

export type RedeliveredDto = v.InferOutput<typeof RedeliveredDtoSchema>
