import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { handler as cancelPayment } from '../../functions/api/cancel-payment.ts'
import { handler as createPayment } from '../../functions/api/create-payment.ts'
import { handler as getBalance } from '../../functions/api/get-balance.ts'
import { handler as getPayment } from '../../functions/api/get-payment.ts'
import { handler as getSettlement } from '../../functions/api/get-settlement.ts'
import { handler as getStatement } from '../../functions/api/get-statement.ts'
import { handler as getWebhookDelivery } from '../../functions/api/get-webhook-delivery.ts'
import { handler as listBalanceEntries } from '../../functions/api/list-balance-entries.ts'
import { handler as listEvents } from '../../functions/api/list-events.ts'
import { handler as listPayments } from '../../functions/api/list-payments.ts'
import { handler as listSettlementPayments } from '../../functions/api/list-settlement-payments.ts'
import { handler as listSettlements } from '../../functions/api/list-settlements.ts'
import { handler as listWebhookDeliveries } from '../../functions/api/list-webhook-deliveries.ts'
import { handler as listWebhookEndpoints } from '../../functions/api/list-webhook-endpoints.ts'
import { handler as notFound } from '../../functions/api/not-found.ts'
import { handler as redeliverToEndpoint } from '../../functions/api/redeliver-to-endpoint.ts'
import { handler as redeliverWebhook } from '../../functions/api/redeliver-webhook.ts'
import { handler as receiveCallback } from '../../functions/callback/receive-provider-callback.ts'
import { answersClients, routeKeyOf } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { httpEvent } from '../../infra/local/triggers/http-event.ts'
import type { Client } from '../../shared/client/client.ts'
import type { Deps } from '../../shared/deps.ts'
import type { InjectableHandler } from '../../shared/runtime/injectable.ts'
import { callbackSecretName } from '../../shared/secrets.ts'

import { lambdaContext } from './operator-actions.ts'
import { aStoredClient, issueKey } from './payment-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

export type HttpHandler = InjectableHandler<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2
>

export type Endpoint = { readonly route: string; readonly handler: HttpHandler }

export const API = {
  createPayment: { route: 'POST /v1/payments', handler: createPayment },
  listPayments: { route: 'GET /v1/payments', handler: listPayments },
  getPayment: { route: 'GET /v1/payments/{id}', handler: getPayment },
  cancelPayment: { route: 'POST /v1/payments/{id}/cancel', handler: cancelPayment },
  getBalance: { route: 'GET /v1/balance', handler: getBalance },
  listBalanceEntries: { route: 'GET /v1/balance/entries', handler: listBalanceEntries },
  getStatement: { route: 'GET /v1/statement', handler: getStatement },
  listSettlements: { route: 'GET /v1/settlements', handler: listSettlements },
  getSettlement: { route: 'GET /v1/settlements/{id}', handler: getSettlement },
  listSettlementPayments: {
    route: 'GET /v1/settlements/{id}/payments',
    handler: listSettlementPayments,
  },
  listWebhookEndpoints: { route: 'GET /v1/webhook_endpoints', handler: listWebhookEndpoints },
  listWebhookDeliveries: { route: 'GET /v1/webhook_deliveries', handler: listWebhookDeliveries },
  getWebhookDelivery: { route: 'GET /v1/webhook_deliveries/{id}', handler: getWebhookDelivery },
  redeliverWebhook: {
    route: 'POST /v1/webhook_deliveries/{id}/redeliver',
    handler: redeliverWebhook,
  },
  redeliverToEndpoint: {
    route: 'POST /v1/webhook_endpoints/{id}/redeliver',
    handler: redeliverToEndpoint,
  },
  listEvents: { route: 'GET /v1/events', handler: listEvents },
} as const satisfies Readonly<Record<string, Endpoint>>

export const CALLBACK: Endpoint = { route: 'POST /callbacks/xendit', handler: receiveCallback }

export const CALLBACK_TOKEN = 'a-token-of-tests'

export const UNKNOWN_PATH: Endpoint = { route: '$default', handler: notFound }

/** Each route of the manifest that a merchant calls. */
export const CLIENT_ROUTES = MANIFEST.filter(answersClients).flatMap(
  (spec) => routeKeyOf(spec) ?? [],
)

export type Query = Readonly<Record<string, string>>

export type ApiRequest = {
  /** Without a caller there is no `Authorization` header. */
  readonly caller?: { readonly authorization: string } | undefined
  readonly id?: string
  readonly query?: Query | string
  readonly headers?: Query
  /** Text and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown
  /** Sends a text body as base64, as API Gateway does for some content types. */
  readonly asBase64?: boolean
  readonly remainingMs?: number
}

export function apiEvent(
  route: string,
  { caller, id, query, headers = {}, body, asBase64 }: ApiRequest,
) {
  const [method = 'GET', path = '/'] = route.split(' ')
  const sent = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(caller && { authorization: caller.authorization }),
    ...headers,
  }
  const asked = new URLSearchParams(query)
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? ''))
  const event = httpEvent(
    {
      method,
      path: path.replace('{id}', id ?? ''),
      query: asked,
      search: asked.toString(),
      headers: {},
      rawHeaders: Object.entries(sent).flat(),
      remoteAddress: '192.0.2.1',
      body: body === undefined ? Buffer.alloc(0) : bytes,
    },
    { routeKey: route, pathParameters: id === undefined ? {} : { id } },
    { requestId: crypto.randomUUID(), nowMs: 0, domainName: 'api.example' },
  )
  return asBase64 ? { ...event, body: bytes.toString('base64'), isBase64Encoded: true } : event
}

export async function call(deps: Deps, { route, handler }: Endpoint, request: ApiRequest = {}) {
  const event = apiEvent(route, request)
  const answer = await handler.withDeps(deps)(
    event,
    lambdaContext('gateway-test-api', request.remainingMs),
  )
  const { statusCode: status = 200, headers = {}, body: text = '' } = answer
  const body: Record<string, unknown> =
    headers['content-type'] === 'application/json' ? Object(JSON.parse(text)) : {}
  // The text is for bodies that must come back digit for digit.
  return { requestId: event.requestContext.requestId, status, headers, text, body }
}
export type ApiResponse = Awaited<ReturnType<typeof call>>

export const PAGE = { page: 1, per_page: 25 }
export const NONE = { data: [], pagination: { ...PAGE, total: 0, total_pages: 0 } }

export function nextPageOf({ headers }: ApiResponse) {
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(String(headers['link'])) ?? []
  return new URL(next, 'https://api.example')
}

export function sendCapture(deps: TestDeps, data: object) {
  knowCallbackToken(deps)
  return call(deps, CALLBACK, {
    body: { event: 'payment.capture', data },
    headers: { 'x-callback-token': CALLBACK_TOKEN },
  })
}

/** Another token is right too, as during its exchange. */
export function knowCallbackToken({ secretValues }: Pick<TestDeps, 'secretValues'>) {
  const tokens = { callback_tokens: [CALLBACK_TOKEN, 'another-token-of-tests'] }
  secretValues.set(callbackSecretName('test'), JSON.stringify(tokens))
}

export async function anApiClient(deps: TestDeps, fields: Partial<Client> = {}) {
  const client = await aStoredClient(deps, fields)
  const { header } = await issueKey(deps, client.clientId)
  return { ...client, authorization: header }
}
export type ApiClient = Awaited<ReturnType<typeof anApiClient>>

export async function anApi<Own extends TestDeps = TestDeps>(
  fields: Partial<Client> = {},
  deps = testDeps() as Own,
) {
  const caller = await anApiClient(deps, fields)
  const ask = (name: keyof typeof API, request: ApiRequest = {}) =>
    call(deps, API[name], { caller, ...request })
  return { deps, caller, ask }
}

export function aPaymentBody(
  fields: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    method: 'virtual_account',
    channel_code: 'BCA',
    amount: 100_000,
    currency: 'IDR',
    ...fields,
  }
}

export const BODIES: Readonly<Partial<Record<keyof typeof API, object>>> = {
  createPayment: aPaymentBody(),
  redeliverToEndpoint: { since: '2026-11-20T00:00:00Z' },
}
