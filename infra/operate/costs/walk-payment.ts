import { marshall } from '@aws-sdk/util-dynamodb'
import * as v from 'valibot'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { CALLBACK_TOKEN, type CostWorld } from './cost-world.ts'
import { count, type Flow } from './flow.ts'

export const OPERATOR = 'costs'
const Reply = v.object({ status: v.literal(200), body: v.record(v.string(), v.unknown()) })

export type Merchant = { readonly clientId: string; readonly authorization: string; readonly endpointId: string }

/** With a key and one endpoint. */
export const newMerchant = async ({ invoke }: CostWorld): Promise<Merchant> => {
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

/** One message of a queue, as Lambda hands it over. */
export const recordsOf = (body: object) => ({ Records: [{ messageId: 'm', body: JSON.stringify(body) }] })

const HttpAnswer = v.object({ statusCode: v.number(), body: v.pipe(v.string(), v.parseJson()) })
export const NoFailures = v.object({ batchItemFailures: v.strictTuple([]) })

/** One payment: created, paid, announced, fetched. Every step refuses an answer that is not the happy one: figures of a failed flow would be too low. */
export const walkPayment = async (world: CostWorld, { authorization }: Merchant): Promise<readonly Flow[]> => {
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
    // Every time the same ones: a payment's id follows from its key, and its slots from its id.
    const headers = { authorization, 'idempotency-key': `payment-${String(sent.length).padStart(6, '0')}` }
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
  const row = await table.get(eventKey(v.parse(PaymentIdSchema, id), 'payment.succeeded'))
  if (!row) throw new Error(`payment ${id} has no event`)
  return toItem(row)
}
