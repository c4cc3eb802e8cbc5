import { ID_OF_ANSWER, linkToFirst, type Operation, okAnswer } from './operation.ts'

/** The operations on webhooks, by the names of their functions. */
export const DELIVERY_OPERATIONS: Readonly<Record<string, Operation>> = {
  'api-list-webhook-endpoints': {
    operationId: 'listWebhookEndpoints',
    tag: 'Deliveries',
    summary: 'List webhook endpoints',
    description:
      'The addresses of your webhooks, newest first. The operator registers and deletes them.',
    success: okAnswer('All endpoints.', 'WebhookEndpointList'),
    errors: [422],
  },
  'api-list-webhook-deliveries': {
    operationId: 'listWebhookDeliveries',
    tag: 'Deliveries',
    summary: 'List webhook deliveries',
    description:
      'Newest first, of all endpoints, also deleted ones. Filters can be combined. A page must ' +
      'lie within the newest 2,000. The search covers only the newest 1,000 succeeded deliveries ' +
      'of all selected endpoints. A page of 50 or more, or with a status, costs several points ' +
      'of the rate limit. Deliveries are kept for 90 days.',
    success: okAnswer('A page of deliveries.', 'WebhookDeliveryList', {
      links: linkToFirst('getWebhookDelivery'),
    }),
    errors: [404, 422],
  },
  'api-get-webhook-delivery': {
    operationId: 'getWebhookDelivery',
    tag: 'Deliveries',
    summary: 'Fetch a webhook delivery',
    description: 'The delivery of one event to one endpoint, with all attempts.',
    success: okAnswer('The delivery.', 'WebhookDelivery', {
      links: { redeliver: { operationId: 'redeliverWebhook', parameters: ID_OF_ANSWER } },
    }),
    errors: [404],
  },
  'api-redeliver-webhook': {
    operationId: 'redeliverWebhook',
    tag: 'Deliveries',
    summary: 'Send a webhook again',
    description:
      'Starts a new round of up to eight attempts, with the same `event_id` and the same bytes. ' +
      'Takes no body. Answers 422 while a round is in progress, or after ten rounds on one UTC ' +
      'day. Also answers 422 if the endpoint is disabled or deleted.',
    success: okAnswer('The delivery, scheduled again.', 'WebhookDelivery', {
      links: { get: { operationId: 'getWebhookDelivery', parameters: ID_OF_ANSWER } },
    }),
    errors: [404, 422],
  },
  'api-redeliver-to-endpoint': {
    operationId: 'redeliverToEndpoint',
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
