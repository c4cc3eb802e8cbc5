import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { OPERATIONS } from '../../../infra/local/openapi/operations.ts'
import { CALLBACK_TOKEN } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import type { Client } from '../../../shared/client/client.ts'
import { dynamoDbClient } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { dynamoDb } from '../../support/dynamodb.ts'
import { filledIn } from '../../support/hostile-values.ts'
import type { MemoryDeps } from '../../support/memory-deps.ts'
import { RIGHT_PAYLOADS } from '../../support/operator-world.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

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

const RUN = `
  const { handler } = await import(process.argv[1])
  const context = { awsRequestId: 'invocation', functionName: 'asset', getRemainingTimeInMillis: () => 20_000 }
  const answer = await handler(JSON.parse(process.argv[2]), context)
  process.stdout.write('\\n' + JSON.stringify(answer), () => process.exit())`

const DEADLINE_MS = 30_000

/**
 * Loads a bundled handler in a plain Node process with only this environment, and calls it once. Returns its answer and
 * its output.
 */
export const runAsset = async (
  file: string,
  event: unknown,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly answer: unknown; readonly output: string }> => {
  const args = ['--input-type=module', '--eval', RUN, pathToFileURL(file).href, JSON.stringify(event)]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    env: { ...env },
    timeout: DEADLINE_MS,
  })
  const answer: unknown = JSON.parse(stdout.split('\n').at(-1) ?? '')
  return { answer, output: stdout + stderr }
}

/** DynamoDB's limit of a batch. */
const MOST_PUTS = 25

/** Makes a table on DynamoDB Local with all rows of the world. */
export const copyTable = async ({ stored }: MemoryDeps, name: string): Promise<string> => {
  await createTable(dynamoDb().endpoint, name)
  const client = dynamoDbClient(localAws(dynamoDb().endpoint))
  const puts = stored.items().map((item) => ({ PutRequest: { Item: marshall(item) } }))
  for (let at = 0; at < puts.length; at += MOST_PUTS) {
    await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: puts.slice(at, at + MOST_PUTS) } }))
  }
  return name
}
