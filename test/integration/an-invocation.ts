import type { FunctionSpec } from '../../functions/function-spec.ts'
import { OPERATIONS } from '../../infra/local/openapi/operations.ts'
import { CALLBACK_TOKEN } from '../../infra/local/provider-simulator/simulator-keys.ts'
import type { Client } from '../../shared/client/client.ts'
import { filledIn } from '../support/hostile-values.ts'
import { RIGHT_PAYLOADS } from '../support/operator-world.ts'
import type { TestDeps } from '../support/test-deps.ts'
import { storedDelivery, storedEndpoint } from '../support/webhook-builders.ts'

type World = {
  readonly deps: TestDeps
  readonly client: Client
  readonly header: string
  readonly names: Readonly<Record<string, string>>
}

type Invocation = { readonly event: unknown; readonly answers: object }

const BODIES: Readonly<Record<string, object>> = {
  'api-create-payment': { method: 'virtual_account', channel_code: 'BCA', amount: 100_000, currency: 'IDR' },
  'api-redeliver-to-endpoint': { since: '2026-11-20T04:00:00Z' },
  'receive-provider-callback': { event: 'of.another.product', data: {} },
}

/** The id for a path, by the collection in the path. */
const IDS: Readonly<Record<string, string>> = {
  payments: '$open',
  settlements: '$settlement',
  webhook_deliveries: '$delivery',
  webhook_endpoints: '$endpoint',
}

/** The status of a success: 201 if the function creates something. */
const statusOf = (name: string): number => {
  if (name === 'api-not-found') return 404
  return Math.max(200, ...Object.keys(OPERATIONS[name]?.success ?? {}).map(Number))
}

const httpInvocation = ({ name, trigger }: FunctionSpec, { header, names }: World): Invocation => {
  const route = trigger.kind === 'http' ? `${trigger.method} ${trigger.path}` : '$default'
  const [method = 'GET', path = '/'] = route.split(' ')
  const id = IDS[/^\/v1\/(\w+)\/\{id\}/.exec(path)?.[1] ?? '']
  const body = BODIES[name]
  const event = {
    version: '2.0',
    routeKey: route,
    headers: { authorization: header, 'x-callback-token': CALLBACK_TOKEN },
    ...(id !== undefined && { pathParameters: { id: names[id] } }),
    ...(body && { body: JSON.stringify(body) }),
    requestContext: { requestId: 'request-1', http: { method, path } },
    isBase64Encoded: false,
  }
  return { event, answers: { statusCode: statusOf(name), headers: { 'x-request-id': 'request-1' } } }
}

const queueInvocation = async (queue: string, { deps, client, names }: World): Promise<Invocation> => {
  const message = (body: object) => ({
    event: { Records: [{ messageId: 'm1', body: JSON.stringify(body) }] },
    answers: { batchItemFailures: [] },
  })
  // The other merchant's books have no differences, so the audit does not wait for a second look.
  if (queue === 'audits') return message({ client_id: names['$stranger'] })
  if (queue === 'sync') return message({})
  if (queue.startsWith('due-')) return message({ slot: 0, part: 0, parts: 1 })
  const { clientId: client_id } = client
  if (queue !== 'webhooks') return message({ client_id })
  // The sender refuses this address before it connects: the attempt fails, is recorded, and the next message is sent.
  const endpoint = await storedEndpoint(deps, { clientId: client_id, url: 'https://10.0.0.1/hooks' })
  const { deliveryId: delivery_id } = await storedDelivery(deps, endpoint)
  return message({ delivery_id, attempt: 1, client_id, endpoint_id: endpoint.endpointId })
}

const SCHEDULED: Readonly<Record<string, object>> = {
  // The two unpaid payments of the world.
  'check-due-work': { payment: 2 },
  'sweep-settlements': {},
  'audit-clients': {},
  'sync-provider-transactions': { complete: true },
}

/** An event for a function's trigger, and the expected fields of the answer. */
export const anInvocation = async (spec: FunctionSpec, world: World): Promise<Invocation> => {
  switch (spec.trigger.kind) {
    case 'http':
    case 'http-default':
      return httpInvocation(spec, world)
    case 'queue':
      return queueInvocation(spec.trigger.queue, world)
    case 'schedule':
      return { event: {}, answers: SCHEDULED[spec.name] ?? { scheduled: 'by nothing known here' } }
    case 'operator':
      return { event: filledIn(RIGHT_PAYLOADS[spec.name], world.names), answers: { status: 200 } }
  }
}
