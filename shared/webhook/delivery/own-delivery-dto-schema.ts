import * as v from 'valibot'
import { WEBHOOK_ERRORS } from '../../send-webhook.ts'
import { DELIVERY_STATUSES } from './delivery.ts'

const id = v.pipe(v.string(), v.uuid())
const time = v.pipe(v.string(), v.isoTimestamp())
const whole = v.pipe(v.number(), v.integer())

export const OwnDeliveryDtoSchema = v.object({
  id: v.pipe(id, v.description('The `X-Gateway-Delivery-Id` of its webhooks.')),
  event_id: v.pipe(
    id,
    v.description(
      'The `event_id` in their body. It is the same for every endpoint and every attempt.',
    ),
  ),
  event: v.string(),
  payment_id: v.optional(v.pipe(id, v.description('Absent unless the event is of a payment.'))),
  settlement_id: v.optional(
    v.pipe(id, v.description('Absent unless the event is of a settlement.')),
  ),
  endpoint_id: id,
  url: v.string(),
  status: v.pipe(
    v.picklist(DELIVERY_STATUSES),
    v.description(
      '`abandoned` after eight attempts of a round; `skipped` if the endpoint was disabled or ' +
        'deleted, or the event was lost (`event_gone`).',
    ),
  ),
  next_attempt_at: v.pipe(
    v.nullable(time),
    v.description('Null if the delivery is not `scheduled`.'),
  ),
  created_at: time,
  attempts: v.pipe(
    v.array(
      v.object({
        number: whole,
        at: time,
        duration_ms: whole,
        http_status: v.pipe(v.nullable(whole), v.description('Null if there was no answer.')),
        error: v.pipe(
          v.nullable(v.picklist(WEBHOOK_ERRORS)),
          v.description('Null if the attempt succeeded.'),
        ),
        response_body: v.pipe(
          v.nullable(v.string()),
          v.description('The first 1 KB of the answer of your server.'),
        ),
      }),
    ),
    v.description(
      'The newest 100, oldest first. A list may show fewer of each delivery, but always the ' +
        'newest.',
    ),
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
  next: v.pipe(
    v.nullable(v.string()),
    v.description(
      'Send it as `cursor`, with the same `since` and `status`. Null if nothing is left.',
    ),
  ),
})

function count(what: string) {
  return v.pipe(v.number(), v.integer(), v.minValue(0), v.description(what))
}

export type RedeliveredDto = v.InferOutput<typeof RedeliveredDtoSchema>
