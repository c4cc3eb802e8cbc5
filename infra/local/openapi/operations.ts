import type { Json } from './json-schema-of.ts'
import type { Operation } from './operation.ts'

export const TAGS = {
  Payments: 'One amount that one customer owes you, and where the customer pays it.',
  Balance: 'What you were credited and where it is: pending, available, in a settlement, paid out.',
  Events: 'What your webhooks tell, to catch up with or to follow.',
  Settlements: 'Payouts to your bank account, each of many payments.',
  Deliveries: 'What became of the webhooks that were sent to you.',
} as const satisfies Record<Operation['tag'], string>

const ID_OF_ANSWER: Json = { id: '$response.body#/id' }

const FIRST_OF_LIST: Json = { id: '$response.body#/data/0/id' }

const TO_THE_PAYMENT = {
  get: { operationId: 'getPayment', parameters: ID_OF_ANSWER },
  cancel: { operationId: 'cancelPayment', parameters: ID_OF_ANSWER },
}

const REPLAYED = { 'Idempotency-Replayed': { schema: { type: 'string', const: 'true' }, required: true } }

/** What the manifest does not say of a function that merchants call, by its name there. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'api-create-payment': {
    operationId: 'createPayment',
    tag: 'Payments',
    summary: 'Create a payment',
    description:
      'Send an `Idempotency-Key` of your own with every payment, and the same one again after a lost answer, a timeout or a ' +
      '5xx: there is one payment for one key, however often and with whatever body it is sent. Decoding is strict: a field ' +
      'that is not described here is refused.',
    body: 'CreatePayment',
    takesIdempotencyKey: true,
    success: {
      201: { description: 'The new payment.', schema: 'Payment', links: TO_THE_PAYMENT },
      200: {
        description: 'The payment that this `Idempotency-Key` made before, as it is now.',
        schema: 'Payment',
        headers: REPLAYED,
        links: TO_THE_PAYMENT,
      },
    },
    errors: [422],
  },
  'api-list-payments': {
    operationId: 'listPayments',
    tag: 'Payments',
    summary: 'List payments',
    description:
      'Newest first. A page of 50 or more takes two points of the rate limit, one of 100 three; a deep page costs more.',
    success: {
      200: {
        description: 'A page of payments, and how many there are.',
        schema: 'PaymentList',
        links: { first: { operationId: 'getPayment', parameters: FIRST_OF_LIST } },
      },
    },
    errors: [422],
  },
  'api-get-payment': {
    operationId: 'getPayment',
    tag: 'Payments',
    summary: 'Fetch a payment',
    description: 'Rather than asking again and again, wait for the webhook.',
    success: { 200: { description: 'The payment.', schema: 'Payment', links: { cancel: TO_THE_PAYMENT.cancel } } },
    errors: [404, 422],
  },
  'api-cancel-payment': {
    operationId: 'cancelPayment',
    tag: 'Payments',
    summary: 'Cancel a pending payment',
    description: 'Closes it at the provider first, so that nobody can pay it any more. Takes no body. Safe to repeat.',
    success: { 200: { description: 'The cancelled payment.', schema: 'Payment', links: { get: TO_THE_PAYMENT.get } } },
    errors: [404, 422, 502],
  },
  'api-get-balance': {
    operationId: 'getBalance',
    tag: 'Balance',
    summary: 'Read the balance',
    description:
      'With `include=settlements` it is whole: what you were credited, less what was taken out again because it went ' +
      'back, is pending + available + in settlement + paid out.',
    success: { 200: { description: 'The balance.', schema: 'Balance' } },
    errors: [422],
  },
  'api-list-settlements': {
    operationId: 'listSettlements',
    tag: 'Settlements',
    summary: 'List settlements',
    description: 'Newest first, by `period_end`.',
    success: {
      200: {
        description: 'A page of settlements.',
        schema: 'SettlementList',
        links: { first: { operationId: 'getSettlement', parameters: FIRST_OF_LIST } },
      },
    },
    errors: [422],
  },
  'api-list-events': {
    operationId: 'listEvents',
    tag: 'Events',
    summary: 'Follow the events',
    description:
      'What your webhooks told in the last 90 days, or should have, byte for byte and oldest first. Ask with `since`, then ' +
      'with `after` and the `next` of the last answer: you are shown every event once or twice, whatever became of its ' +
      'webhooks. Ask again at once while `has_more` is true, else some time later: ten seconds are enough. Any limit ' +
      'leads to the newest event. A young event is shown a second time, some five minutes later: act once for each ' +
      '`event_id`. A page of 50 or more takes two points of the rate limit, one of 100 three.',
    parameters: {
      after: { description: 'The `next` of the last answer, as it was. Where it is, `since` does nothing.' },
      limit: {
        description: 'From 1 to 100; what is outside counts as the nearest of the two.',
        schema: { type: 'integer', default: 25 },
      },
    },
    success: { 200: { description: 'A page of events, and where to go on.', schema: 'EventList' } },
    errors: [422],
  },
  'api-get-settlement': {
    operationId: 'getSettlement',
    tag: 'Settlements',
    summary: 'Fetch a settlement',
    description: 'One payout.',
    success: { 200: { description: 'The settlement.', schema: 'Settlement' } },
    errors: [404, 422],
  },
  'api-list-settlement-payments': {
    operationId: 'listSettlementPayments',
    tag: 'Settlements',
    summary: 'List the entries of a settlement',
    description:
      'Payments, and everything else that moved your money in its window. Their sums are the settlement’s. With ' +
      '`Accept: text/csv` the same rows as CSV.',
    success: {
      200: {
        description: 'A page of entries; of CSV the `Link` header names the next one.',
        schema: 'EntryList',
        csv: true,
        headers: { Link: { description: 'Of CSV, while there is more.', schema: { type: 'string' } } },
      },
    },
    errors: [404, 422],
  },
  'api-list-balance-entries': {
    operationId: 'listBalanceEntries',
    tag: 'Balance',
    summary: 'List the entries of your balance',
    description:
      'Your journal: each movement of your money, settled or not. Payments that the provider has not settled yet are not ' +
      'in it. This is a reading, not a feed: an entry can be written before one that you have read. Read again from the ' +
      'end of the last settlement. With `Accept: text/csv` the same rows as CSV.',
    success: {
      200: {
        description: 'A page of entries; of CSV the `Link` header names the next one.',
        schema: 'EntryList',
        csv: true,
        headers: { Link: { description: 'Of CSV, while there is more.', schema: { type: 'string' } } },
      },
    },
    errors: [422],
  },
  'api-list-webhook-endpoints': {
    operationId: 'listWebhookEndpoints',
    tag: 'Deliveries',
    summary: 'List webhook endpoints',
    description: 'Where webhooks are sent, newest first. The operator registers and deletes them.',
    success: { 200: { description: 'All endpoints.', schema: 'WebhookEndpointList' } },
    errors: [422],
  },
  'api-list-webhook-deliveries': {
    operationId: 'listWebhookDeliveries',
    tag: 'Deliveries',
    summary: 'List webhook deliveries',
    description:
      'Newest first, of all endpoints, deleted ones too; filters go together. A page lies within the newest 2,000; of ' +
      'those that succeeded only the newest 1,000, of all endpoints asked about together, are looked through. A page of ' +
      '50 or more, or of a status, takes several points of the rate limit. Deliveries are kept for 90 days.',
    success: {
      200: {
        description: 'A page of deliveries.',
        schema: 'WebhookDeliveryList',
        links: { first: { operationId: 'getWebhookDelivery', parameters: FIRST_OF_LIST } },
      },
    },
    errors: [404, 422],
  },
  'api-get-webhook-delivery': {
    operationId: 'getWebhookDelivery',
    tag: 'Deliveries',
    summary: 'Fetch a webhook delivery',
    description: 'One event on its way to one endpoint, attempt by attempt.',
    success: {
      200: {
        description: 'The delivery.',
        schema: 'WebhookDelivery',
        links: { redeliver: { operationId: 'redeliverWebhook', parameters: ID_OF_ANSWER } },
      },
    },
    errors: [404, 422],
  },
  'api-redeliver-webhook': {
    operationId: 'redeliverWebhook',
    tag: 'Deliveries',
    summary: 'Send a webhook again',
    description:
      'Begins a new round of up to eight attempts, with the same `event_id` and the same bytes. Takes no body. 422 while ' +
      'a round is under way, where the endpoint is disabled or deleted, or after ten rounds on one UTC day.',
    success: {
      200: {
        description: 'The delivery, scheduled again.',
        schema: 'WebhookDelivery',
        links: { get: { operationId: 'getWebhookDelivery', parameters: ID_OF_ANSWER } },
      },
    },
    errors: [404, 422],
  },
  'api-redeliver-to-endpoint': {
    operationId: 'redeliverToEndpoint',
    tag: 'Deliveries',
    summary: 'Send an endpoint what it did not get',
    description:
      'Begins a new round for every delivery since a time that was abandoned or skipped, and sends events that the ' +
      'endpoint was never told. One call goes through up to a hundred events: ask again with `next` as `cursor` until it ' +
      'is null. Safe to repeat: a delivery under way is left alone. 422 where the endpoint is disabled.',
    body: 'RedeliverToEndpoint',
    success: { 200: { description: 'What was begun, and where to go on.', schema: 'Redelivered' } },
    errors: [404, 422],
  },
}
