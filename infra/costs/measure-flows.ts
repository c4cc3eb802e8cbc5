import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import * as v from 'valibot'
import { PaymentIdSchema } from '../../shared/ids.ts'
import { eventKey } from '../../shared/table/keys.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import { CALLBACK_TOKEN, type CostWorld, startCostWorld } from './cost-world.ts'

type FunctionName = keyof typeof ASSUMPTIONS.billedMs

/** What one step of a payment's life uses, counted while it runs. */
export type Flow = {
  readonly name: string
  /** Undefined for a step that is no invocation of its own. */
  readonly functionName: FunctionName
  /** Of the function, for one payment; below one where a run serves many. */
  readonly invocations: number
  readonly reads: number
  readonly writes: number
  readonly messages: number
  readonly logBytes: number
  readonly isHttp: boolean
}

export type Measured = {
  /** For one payment: created, paid, announced to one endpoint, fetched once, its fee made final, settled. */
  readonly perPayment: readonly Flow[]
  /** For one delivery to an endpoint that always fails: eight attempts and the hops between them. */
  readonly abandoned: Flow
  /** For one run while nothing is due. */
  readonly idleRuns: readonly Flow[]
  readonly storedBytesPerPayment: number
}

/** Runs that serve many payments are measured with so many, and divided. */
const MANY = 50
const DAY_SECONDS = 86_400

/** Walks payments through their life on the real handlers and counts what every step uses. */
export const measureFlows = async (dynamodbEndpoint: string): Promise<Measured> => {
  await using world = await startCostWorld(dynamodbEndpoint)
  // The second run: the first one looks back over a week.
  await syncRun(world, 'sync, first run')
  const idleSync = await syncRun(world, 'sync, one run')
  const idleRuns = [
    await count(world, 'check-due-work', 'due work, one run', () => world.invoke('check-due-work', {})),
    idleSync,
    await count(world, 'sweep-settlements', 'sweep, one run', () => world.invoke('sweep-settlements', {})),
  ]
  const merchant = await newMerchant(world)
  const before = await world.stored()

  const steps = await walkOne(world, merchant)
  for (let more = 1; more < MANY; more++) await walkOne(world, merchant)
  const storedBytesPerPayment = Math.round(((await world.stored()) - before) / MANY)

  const looked = await syncRun(world, 'looked at by the sync')
  // Bank channels report their final fee a business day later; funds are settled once they are 24 hours old.
  world.clock.advance(4 * DAY_SECONDS)
  const sync = await syncRun(world, 'fee made final')
  const settle = await count(world, 'settle-client', 'settled', () =>
    world.invoke('settle-client', recordsOf({ client_id: merchant.clientId })),
  )
  const abandoned = await abandonOne(world, merchant)
  return {
    perPayment: [
      ...steps,
      times(share(beyond(idleSync, looked)), ASSUMPTIONS.syncLooks),
      share(beyond(idleSync, sync)),
      share(settled(settle)),
    ],
    abandoned,
    idleRuns,
    storedBytesPerPayment,
  }
}

const syncRun = (world: CostWorld, name: string): Promise<Flow> =>
  count(world, 'sync-provider-transactions', name, async () => {
    v.parse(v.object({ complete: v.literal(true) }), await world.invoke('sync-provider-transactions', {}))
  })

const times = (flow: Flow, factor: number): Flow => ({
  ...flow,
  invocations: flow.invocations * factor,
  reads: flow.reads * factor,
  writes: flow.writes * factor,
  messages: flow.messages * factor,
  logBytes: flow.logBytes * factor,
})

/** The part of one payment in a run that serves many. */
const share = (flow: Flow): Flow => times(flow, 1 / MANY)

/** What a scheduled run uses for the payments it looks at, beyond what it uses every hour anyhow. */
const beyond = (idle: Flow, flow: Flow): Flow => ({
  ...flow,
  invocations: 0,
  reads: Math.max(0, flow.reads - idle.reads),
  writes: Math.max(0, flow.writes - idle.writes),
  logBytes: Math.max(0, flow.logBytes - idle.logBytes),
})

/** A run that found nothing to settle writes nothing, and would be no measurement. */
const settled = (flow: Flow): Flow => {
  if (flow.writes === 0) throw new Error('nothing was settled')
  return flow
}

const HTTP: readonly string[] = ['api-create-payment', 'api-get-payment', 'receive-provider-callback']

const count = async (
  world: CostWorld,
  functionName: FunctionName,
  name: string,
  run: () => Promise<unknown>,
): Promise<Flow> => {
  world.takeUnits()
  world.takeLogBytes()
  const sentBefore = world.sent.length
  await run()
  return {
    name,
    functionName,
    invocations: 1,
    ...world.takeUnits(),
    messages: world.sent.length - sentBefore,
    logBytes: world.takeLogBytes(),
    isHttp: HTTP.includes(functionName),
  }
}

const OPERATOR = 'costs'
const Reply = v.object({ status: v.literal(200), body: v.record(v.string(), v.unknown()) })

type Merchant = { readonly clientId: string; readonly authorization: string; readonly endpointId: string }

const newMerchant = async ({ invoke }: CostWorld): Promise<Merchant> => {
  const act = async (action: string, payload: object) =>
    v.parse(Reply, await invoke(action, { operator: OPERATOR, ...payload })).body
  const client = await act('create-client', { name: 'Warung Kopi' })
  const client_id = String(client['client_id'])
  const key = await act('issue-api-key', { client_id })
  const endpoint = await act('register-endpoint', {
    client_id,
    url: 'https://merchant.example/hooks',
    event_types: ['*'],
  })
  return {
    clientId: client_id,
    authorization: `Bearer ${String(key['api_key'])}`,
    endpointId: String(endpoint['endpoint_id']),
  }
}

const requestOf = (route: string, headers: object, fields: { readonly id?: string; readonly body?: string }) => ({
  version: '2.0',
  routeKey: route,
  headers,
  ...(fields.id !== undefined && { pathParameters: { id: fields.id } }),
  ...(fields.body !== undefined && { body: fields.body }),
  requestContext: { requestId: '00000000-0000-4000-8000-000000000000' },
  isBase64Encoded: false,
})

const recordsOf = (body: object) => ({ Records: [{ messageId: 'm', body: JSON.stringify(body) }] })

const HttpAnswer = v.object({ statusCode: v.number(), body: v.pipe(v.string(), v.parseJson()) })
const NoFailures = v.object({ batchItemFailures: v.strictTuple([]) })

/** Every step refuses an answer that is not the happy one: figures of a failed flow would be too low. */
const walkOne = async (world: CostWorld, { authorization }: Merchant): Promise<readonly Flow[]> => {
  const { invoke, sent } = world
  let id = ''
  const create = await count(world, 'api-create-payment', 'created', async () => {
    const body = JSON.stringify({
      method: 'virtual_account',
      channel_code: 'BCA',
      amount: 150_000,
      currency: 'IDR',
      external_reference: 'order-2026-000001',
      description: 'Two coffees and a slice of cake',
      customer: { name: 'Sri Wahyuni', email: 'sri@example.com' },
    })
    const headers = { authorization, 'idempotency-key': crypto.randomUUID() }
    const answer = v.parse(
      HttpAnswer,
      await invoke('api-create-payment', requestOf('POST /v1/payments', headers, { body })),
    )
    id = v.parse(v.object({ id: PaymentIdSchema }), answer.body).id
  })
  const callback = await paidCallback(world, id)
  const paid = await count(world, 'receive-provider-callback', 'paid, credited', async () => {
    const headers = { 'x-callback-token': CALLBACK_TOKEN }
    const event = requestOf('POST /callbacks/xendit', headers, { body: callback })
    const answer = v.parse(HttpAnswer, await invoke('receive-provider-callback', event))
    v.parse(v.object({ outcome: v.literal('applied') }), answer.body)
  })
  const announced = await count(world, 'fan-out-events', 'announced', async () => {
    const record = { dynamodb: { SequenceNumber: '1', NewImage: marshall(await eventRow(world, id)) } }
    v.parse(NoFailures, await invoke('fan-out-events', { Records: [record] }))
  })
  const delivered = await count(world, 'deliver-webhook', 'delivered', async () => {
    v.parse(NoFailures, await invoke('deliver-webhook', recordsOf(sent.at(-1)?.message.body ?? {})))
  })
  const fetched = await count(world, 'api-get-payment', 'fetched once', async () => {
    const event = requestOf('GET /v1/payments/{id}', { authorization }, { id })
    v.parse(
      v.object({ status: v.literal('succeeded') }),
      v.parse(HttpAnswer, await invoke('api-get-payment', event)).body,
    )
  })
  // Reading the row for the stream's record is the measurement's own.
  return [create, paid, { ...announced, reads: announced.reads - 1 }, delivered, fetched]
}

/** The customer pays at the simulator, which calls back as the provider does. */
const paidCallback = async (world: CostWorld, id: string): Promise<string> => {
  const headers = { authorization: world.providerAuthorization, 'api-version': '2024-11-11' }
  const found = await fetch(`${world.providerUrl}/_simulator/payment_requests?reference_id=${id}`)
  const requests = v.parse(v.array(v.object({ payment_request_id: v.string() })), await found.json())
  const before = world.callbacks.length
  await fetch(`${world.providerUrl}/v3/payment_requests/${requests.at(-1)?.payment_request_id ?? ''}/simulate`, {
    method: 'POST',
    headers,
    body: '{}',
  })
  const deadline = performance.now() + 5_000
  while (world.callbacks.length === before && performance.now() < deadline) {
    await new Promise<void>((resolve) => setTimeout(resolve, 2))
  }
  return world.callbacks[before]?.body.toString('utf8') ?? ''
}

const eventRow = async ({ table }: CostWorld, id: string): Promise<Record<string, unknown>> => {
  const { pk, sk } = eventKey(v.parse(PaymentIdSchema, id), 'payment.succeeded')
  const { Items: [row] = [] } = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk AND sk = :sk',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      ConsistentRead: true,
    }),
  )
  if (!row) throw new Error(`payment ${id} has no event`)
  return row
}

/** More hops than eight attempts can need: a delivery that is not over by then has no end. */
const MOST_HOPS = 40

const abandonOne = async (world: CostWorld, { clientId, endpointId }: Merchant): Promise<Flow> => {
  world.merchant.answers = 500
  await world.invoke('send-test-event', { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId })
  let invocations = 0
  const flow = await count(world, 'deliver-webhook', 'a delivery given up', async () => {
    let next = world.sent.at(-1)
    while (next) {
      if (++invocations > MOST_HOPS) throw new Error('the delivery never ends')
      world.clock.advance(next.message.delaySeconds)
      const before = world.sent.length
      v.parse(NoFailures, await world.invoke('deliver-webhook', recordsOf(next.message.body)))
      next = world.sent[before]
    }
  })
  return { ...flow, invocations, messages: flow.messages + 1 }
}
