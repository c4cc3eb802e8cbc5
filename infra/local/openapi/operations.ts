import type { Json } from './json-schema-of.ts'
import { type Operation, okAnswer, type Success } from './operation.ts'

/**
 * Raised with every change that merchants can notice. CHANGELOG.md has a line for each version,
 * with its digest.
 */
export const API_VERSION = '1.0.0'

export const TAGS = {
  Payments: 'One amount that one customer owes you, and where the customer pays it.',
  Balance: 'Your credited money by state: pending, available, in settlement, paid out.',
  Events: 'The events of your webhooks, to read missed ones or to follow all.',
  Settlements: 'Payouts to your bank account. Each covers many payments.',
  Deliveries: 'The webhooks to your endpoints, with their attempts.',
} as const satisfies Record<Operation['tag'], string>

const TO_THE_PAYMENT = { get: 'getPayment', cancel: 'cancelPayment' }

const TRUE: Json = { type: 'string', const: 'true' }
const REPLAYED = { 'Idempotency-Replayed': { schema: TRUE, required: true } }
const MAY_BE_RESUMED = {
  'Idempotency-Replayed': {
    description:
      'Present if the payment was created from an earlier request with this `Idempotency-Key`.',
    schema: TRUE,
  },
}

const AS_CSV: Pick<Success, 'csv' | 'headers'> = {
  csv: true,
  headers: {
    Link: {
      description: 'The next page of a CSV answer. Absent on the last page.',
      schema: { type: 'string' },
    },
  },
}

/** The descriptions of the functions that merchants call, by their names in the manifest. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'api-create-payment': {
    tag: 'Payments',
    summary: 'Create a payment',
    description:
      'Send your own `Idempotency-Key` with every payment. After a lost answer, a timeout or a ' +
      '5xx, retry with the same key: one key creates at most one payment, for any number of ' +
      'requests and any body. Unknown fields are refused.',
    body: 'CreatePayment',
    takesIdempotencyKey: true,
    success: {
      201: {
        description: 'The new payment.',
        schema: 'Payment',
        headers: MAY_BE_RESUMED,
        links: TO_THE_PAYMENT,
      },
      200: {
        description: 'The existing payment of this `Idempotency-Key`, in its current state.',
        schema: 'Payment',
        headers: REPLAYED,
        links: TO_THE_PAYMENT,
      },
    },
    errors: [422],
  },
  'api-list-payments': {
    tag: 'Payments',
    summary: 'List payments',
    description:
      'Newest first. A page of 50 or more costs two points of the rate limit, a page of 100 ' +
      'three. A deep page costs more.',
    success: okAnswer('A page of payments, and the total count.', 'PaymentList', {
      first: 'getPayment',
    }),
    errors: [422],
  },
  'api-get-payment': {
    tag: 'Payments',
    summary: 'Fetch a payment',
    description: 'Wait for the webhook instead of polling.',
    success: okAnswer('The payment.', 'Payment', { cancel: TO_THE_PAYMENT.cancel }),
    errors: [404],
  },
  'api-cancel-payment': {
    tag: 'Payments',
    summary: 'Cancel a pending payment',
    description:
      'Cancels it at the provider first, so that it can no longer be paid. Where the provider ' +
      'cannot cancel, as a push (OVO), the customer can pay until the time to pay is over, and ' +
      'that money shows in `held`. Takes no body. After a 502 send it again. After a 200 a ' +
      'repeat is 422.',
    success: okAnswer('The cancelled payment.', 'Payment', { get: TO_THE_PAYMENT.get }),
    errors: [404, 422, 502],
  },
  'api-get-balance': {
    tag: 'Balance',
    summary: 'Read the balance',
    description:
      'With `include=settlements` its figures add up to your credits, adjustments and returned ' +
      'payouts, less reversals.',
    success: okAnswer('The balance.', 'Balance'),
    errors: [422],
  },
  'api-list-settlements': {
    tag: 'Settlements',
    summary: 'List settlements',
    description: 'Newest first, by `period_end`.',
    success: okAnswer('A page of settlements.', 'SettlementList', { first: 'getSettlement' }),
    errors: [422],
  },
  'api-list-events': {
    tag: 'Events',
    summary: 'Follow the events',
    description:
      'The events of the last 90 days, oldest first, with the exact bytes of their webhooks, ' +
      'delivered or not. First send `since`. Then send `after` with the `next` of the last ' +
      'answer: at once while `has_more` is true, else after ten seconds or more. You get every ' +
      'event once or twice: a new event appears again about five minutes later. Process each ' +
      '`event_id` once. Any `limit` reaches the newest event. A page of 50 or more costs two ' +
      'points of the rate limit, a page of 100 three.',
    parameters: {
      after: {
        description:
          'The `next` of the last answer, unchanged. With `after`, `since` has no effect.',
      },
      limit: {
        description: 'From 1 to 100; a value outside counts as the nearest bound.',
        schema: { type: 'integer', default: 25 },
      },
    },
    success: okAnswer('A page of events, and the cursor of the next page.', 'EventList'),
    errors: [422],
  },
  'api-get-settlement': {
    tag: 'Settlements',
    summary: 'Fetch a settlement',
    description:
      'Shows one payout. With `include=payout` it also shows the reference of the transfer and ' +
      'the number of its batch.',
    parameters: { include: { description: '`payout` adds `bank_reference` and `batch`.' } },
    success: okAnswer('The settlement.', 'Settlement'),
    errors: [404, 422],
  },
  'api-list-settlement-payments': {
    tag: 'Settlements',
    summary: 'List the entries of a settlement',
    description:
      'Payments, and all other movements of your money in the window of the settlement. Their ' +
      'sums are the sums of the settlement. With `Accept: text/csv`: the same rows as CSV.',
    success: pageOrCsv('entries', 'EntryList'),
    errors: [404, 422],
  },
  'api-list-balance-entries': {
    tag: 'Balance',
    summary: 'List the entries of your balance',
    description:
      'Your journal: each movement of your money, settled or not. It does not contain payments ' +
      'that the provider has not settled yet. Do not use it as a feed: a new entry can appear ' +
      'before one that you have read. Read again from the end of the last settlement. With ' +
      '`Accept: text/csv`: the same rows as CSV.',
    success: pageOrCsv('entries', 'EntryList'),
    errors: [422],
  },
  'api-get-statement': {
    tag: 'Balance',
    summary: 'Read your statement',
    description:
      'Your account for days of Asia/Jakarta: what was owed to you before, each movement, each ' +
      'payout, and what is owed to you at the end. A failed or re-credited settlement has no ' +
      'line: its money is still owed to you. Payments that the provider has not settled yet are ' +
      'not in it. Days are in order; within a day payouts are last. Days up to `final_until` ' +
      'never change. A page can have fewer lines than `limit`: read until `next` is null. With ' +
      '`Accept: text/csv`: the same lines as CSV, with the balance after each line.',
    success: pageOrCsv('the statement', 'Statement'),
    errors: [422],
  },
  'api-list-webhook-endpoints': {
    tag: 'Deliveries',
    summary: 'List webhook endpoints',
    description:
      'The addresses of your webhooks, newest first. The operator registers and deletes them.',
    success: okAnswer('All endpoints.', 'WebhookEndpointList'),
    errors: [422],
  },
  'api-list-webhook-deliveries': {
    tag: 'Deliveries',
    summary: 'List webhook deliveries',
    description:
      'Newest first, of all endpoints, also deleted ones. Filters can be combined. A page older ' +
      'than the newest 2,000 gets 422. A search for `succeeded` covers only the newest 1,000 ' +
      'deliveries of all selected endpoints. A page of 50 or more, or with a status, costs ' +
      'several points of the rate limit. Deliveries are kept for 90 days.',
    success: okAnswer('A page of deliveries.', 'WebhookDeliveryList', {
      first: 'getWebhookDelivery',
    }),
    errors: [404, 422],
  },
  'api-get-webhook-delivery': {
    tag: 'Deliveries',
    summary: 'Fetch a webhook delivery',
    description: 'The delivery of one event to one endpoint, with its attempts.',
    success: okAnswer('The delivery.', 'WebhookDelivery', { redeliver: 'redeliverWebhook' }),
    errors: [404],
  },
  'api-redeliver-webhook': {
    tag: 'Deliveries',
    summary: 'Send a webhook again',
    description:
      'Starts a new round of up to eight attempts, with the same `event_id` and the same bytes. ' +
      'Takes no body. Answers 422 while a round is in progress, or after ten rounds on one UTC ' +
      'day. Also answers 422 for a test, and if the endpoint is disabled or deleted.',
    success: okAnswer('The delivery, scheduled again.', 'WebhookDelivery', {
      get: 'getWebhookDelivery',
    }),
    errors: [404, 422],
  },
  'api-redeliver-to-endpoint': {
    tag: 'Deliveries',
    summary: 'Send missed webhooks to an endpoint again',
    description:
      'Starts a new round for every abandoned or skipped delivery since a time. It also sends ' +
      'the events that the endpoint never got. One call checks up to a hundred events: repeat ' +
      'with `next` as `cursor` until it is null. Safe to repeat: it skips deliveries in ' +
      'progress. Answers 422 if the endpoint is disabled.',
    body: 'RedeliverToEndpoint',
    success: okAnswer('The started rounds, and the cursor of the next call.', 'Redelivered'),
    errors: [404, 422],
  },
}

function pageOrCsv(of: string, schema: string) {
  const description = `A page of ${of}. For CSV, the \`Link\` header has the next page.`
  return { 200: { description, schema, ...AS_CSV } }
}
