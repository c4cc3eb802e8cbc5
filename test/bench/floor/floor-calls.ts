import { randomUUID } from 'node:crypto'
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import * as v from 'valibot'
import { PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import type { HttpCaller } from '../local/http-caller.ts'

export type FloorMeans = {
  readonly table: DynamoDBClient
  readonly tableName: string
  readonly call: HttpCaller['call']
  readonly providerUrl: string
  readonly webhookUrl: string
  readonly sqs: SQSClient
  readonly queueUrl: string
  /** Whose payments these are; the program has one client. */
  readonly clientId: string
}

const PAGE = 25
const SHARDS = 16
const FEE_MINOR = 4_000

const Request = v.looseObject({ amount: v.number(), channel_code: v.string(), external_reference: v.string() })
const Upstream = v.object({
  payment_request_id: v.string(),
  actions: v.array(v.object({ value: v.optional(v.string()) })),
})
const Callback = v.object({ data: v.object({ payment_id: v.string(), reference_id: v.string() }) })
const Capture = v.object({ captures: v.array(v.object({ capture_amount: v.number() })) })

const PROVIDER_HEADERS = {
  authorization: `Basic ${Buffer.from(`${PROVIDER_KEY}:`).toString('base64')}`,
  'api-version': '2024-11-11',
  'content-type': 'application/json',
}

export const raw = (values: object) => marshall(values, { removeUndefinedValues: true })
const paymentKey = (id: string) => ({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })
const shardOf = (id: string) => String(Number.parseInt(id.slice(0, 2), 16) % SHARDS).padStart(2, '0')

const ask = async (means: FloorMeans, method: string, path: string, body?: object): Promise<unknown> => {
  const { status, text } = await means.call({
    method,
    url: means.providerUrl + path,
    headers: PROVIDER_HEADERS,
    ...(body && { body: JSON.stringify(body) }),
  })
  if (status >= 300) throw new Error(`the provider answered ${status}: ${text}`)
  return JSON.parse(text)
}

/** Claim, so that no other caller asks the provider for this payment; the provider; what leads to it; payment and count. */
const create = async (means: FloorMeans, body: unknown) => {
  const { table, tableName: TableName, clientId: client_id } = means
  const asked = v.parse(Request, body)
  const [id, now] = [randomUUID(), new Date().toISOString()]
  const claim = { ...paymentKey(id), client_id, status: 'creating', attempt: 1, claimed_at: now, request: asked }
  await table.send(new PutItemCommand({ TableName, Item: raw(claim), ConditionExpression: 'attribute_not_exists(pk)' }))
  const made = await ask(means, 'POST', '/v3/payment_requests', {
    reference_id: `${id}-1`,
    type: 'PAY',
    country: 'ID',
    currency: 'IDR',
    request_amount: asked.amount,
    channel_code: `${asked.channel_code}_VIRTUAL_ACCOUNT`,
    channel_properties: { display_name: 'Floor' },
  })
  const { payment_request_id, actions } = v.parse(Upstream, made)
  const payment_destination = actions[0]?.value ?? ''
  const payment = {
    ...asked,
    id,
    client_id,
    status: 'pending',
    created_at: now,
    payment_request_id,
    payment_destination,
    provider_fee_minor: FEE_MINOR,
    owner: client_id,
    entity: 'payment',
    listed_at: now,
    work: 'floor',
    slot: 0,
    due_at: now,
  }
  const pointers = [
    { pk: `DESTINATION#${payment_destination}#${id}`, sk: now, payment_id: id },
    { pk: `REFERENCE#${asked.external_reference}`, sk: `${now}#${id}`, payment_id: id },
  ]
  await Promise.all(pointers.map((pointer) => table.send(new PutItemCommand({ TableName, Item: raw(pointer) }))))
  await table.send(
    new TransactWriteItemsCommand({
      TransactItems: [
        {
          Put: {
            TableName,
            Item: raw({ ...paymentKey(id), ...payment }),
            ConditionExpression: '#status = :creating',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: raw({ ':creating': 'creating' }),
          },
        },
        count(means, id, 'count_pending', 1),
      ],
    }),
  )
  return payment
}

const count = ({ tableName, clientId }: FloorMeans, id: string, field: string, by: number) => ({
  Update: {
    TableName: tableName,
    Key: raw({ pk: `LEDGER#${clientId}`, sk: `SHARD#${shardOf(id)}` }),
    UpdateExpression: 'ADD #field :by',
    ExpressionAttributeNames: { '#field': field },
    ExpressionAttributeValues: raw({ ':by': by }),
  },
})

const get = async ({ table, tableName: TableName }: FloorMeans, id: string) => {
  const { Item = {} } = await table.send(
    new GetItemCommand({ TableName, Key: raw(paymentKey(id)), ConsistentRead: true }),
  )
  return unmarshall(Item)
}

/** The newest by the index, what they are by the table, and how many there are by the ledger. */
const list = async ({ table, tableName: TableName, clientId }: FloorMeans) => {
  const ledger = await table.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: raw({ ':pk': `LEDGER#${clientId}` }),
      ConsistentRead: true,
    }),
  )
  const { Items: found = [] } = await table.send(
    new QueryCommand({
      TableName,
      IndexName: 'by-owner',
      KeyConditionExpression: '#owner = :owner AND entity = :entity',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: raw({ ':owner': clientId, ':entity': 'payment' }),
      ScanIndexForward: false,
      Limit: PAGE,
    }),
  )
  const Keys = found.map(({ pk = { S: '' }, sk = { S: '' } }) => ({ pk, sk }))
  const { Responses } = await table.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }))
  const total = (ledger.Items ?? []).reduce((sum, { count_pending: pending }) => sum + Number(pending?.N ?? 0), 0)
  return { data: (Responses?.[TableName] ?? []).map((item) => unmarshall(item)), total }
}

/** The provider is asked; who is told; payment, credit, event and delivery; and the message of the delivery. */
const applyCallback = async (means: FloorMeans, body: unknown) => {
  const { table, tableName: TableName, clientId, sqs, queueUrl: QueueUrl } = means
  const { data } = v.parse(Callback, body)
  const id = data.reference_id.slice(0, 36)
  const payment = await get(means, id)
  const { captures } = v.parse(Capture, await ask(means, 'GET', `/v3/payments/${data.payment_id}`))
  await table.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: raw({ ':pk': endpointKey(clientId).pk }),
      ConsistentRead: true,
    }),
  )
  const [now, event_id] = [new Date().toISOString(), randomUUID()]
  const net_minor = Number(captures[0]?.capture_amount) - FEE_MINOR
  const paid = { ...payment, status: 'succeeded', paid_at: now, net_minor }
  const sent = JSON.stringify({ event: 'payment.succeeded', event_id, timestamp: now, data: paid })
  await credit(means, { id, paid, event: { event_id, body: sent, listed_at: now } })
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: id }))
  return { outcome: 'applied' }
}

type Credit = { readonly id: string; readonly paid: object; readonly event: object }

export const endpointKey = (clientId: string) => ({ pk: `ENDPOINTS#${clientId}`, sk: 'ENDPOINT#1' })
export const eventKey = (id: string) => ({ pk: `PAYMENT#${id}`, sk: 'EVENT#payment.succeeded' })
export const deliveryKey = (id: string) => ({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' })

const credit = async (means: FloorMeans, { id, paid, event }: Credit): Promise<void> => {
  const { table, tableName: TableName, clientId: owner } = means
  const listed_at = new Date().toISOString()
  const delivery = { entity: 'delivery', owner, id, listed_at, work: 'floor', slot: 2, due_at: listed_at }
  await table.send(
    new TransactWriteItemsCommand({
      TransactItems: [
        {
          Put: {
            TableName,
            Item: raw({ ...paid, ...paymentKey(id) }),
            ConditionExpression: '#status = :pending',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: raw({ ':pending': 'pending' }),
          },
        },
        count(means, id, 'credited_minor', 1),
        { Put: { TableName, Item: raw({ ...eventKey(id), ...event, entity: 'event', owner, id }) } },
        { Put: { TableName, Item: raw({ ...deliveryKey(id), ...delivery }) } },
      ],
    }),
  )
}

/** The unavoidable calls of each request, one after the other as they depend on each other. */
export const floorCalls = (means: FloorMeans) => ({
  create: (body: unknown) => create(means, body),
  get: (id: string) => get(means, id),
  list: () => list(means),
  applyCallback: (body: unknown) => applyCallback(means, body),
})
