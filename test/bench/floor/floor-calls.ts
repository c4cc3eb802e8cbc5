import { createHmac, randomUUID } from 'node:crypto'
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
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

const raw = (values: object) => marshall(values, { removeUndefinedValues: true })
const paymentKey = (id: string) => ({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })
const shardOf = (id: string) => String(Number.parseInt(id.slice(0, 2), 16) % SHARDS).padStart(2, '0')

const ask = async (means: FloorMeans, method: string, path: string, body?: object): Promise<unknown> => {
  const sent = body && { body: JSON.stringify(body), wanted: 201 }
  const { text } = await means.call({
    method,
    url: means.providerUrl + path,
    headers: PROVIDER_HEADERS,
    wanted: 200,
    ...sent,
  })
  return JSON.parse(text)
}

/** A step of a transaction: the payment in its next state, if it is in this one. */
const replaced = (TableName: string, from: string, item: object) => ({
  Put: {
    TableName,
    Item: raw(item),
    ConditionExpression: '#status = :from',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: raw({ ':from': from }),
  },
})

/** Claim, so that no other caller asks the provider for this payment; the provider; what leads to it; payment and count. */
export const create = async (means: FloorMeans, body: unknown) => {
  const { table, tableName: TableName, clientId: client_id } = means
  const asked = v.parse(Request, body)
  const [id, now] = [randomUUID(), new Date().toISOString()]
  const claim = { ...paymentKey(id), client_id, status: 'creating', attempt: 1, claimed_at: now, request: asked }
  await table.send(new PutItemCommand({ TableName, Item: raw(claim), ConditionExpression: 'attribute_not_exists(pk)' }))
  const answer = await ask(means, 'POST', '/v3/payment_requests', {
    reference_id: `${id}-1`,
    type: 'PAY',
    country: 'ID',
    currency: 'IDR',
    request_amount: asked.amount,
    channel_code: `${asked.channel_code}_VIRTUAL_ACCOUNT`,
    channel_properties: { display_name: 'Floor' },
  })
  const { payment_request_id, actions } = v.parse(Upstream, answer)
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
  const made = replaced(TableName, 'creating', { ...paymentKey(id), ...payment })
  const steps = [made, count(means, id, 'count_pending')]
  await table.send(new TransactWriteItemsCommand({ TransactItems: steps }))
  return payment
}

const count = ({ tableName, clientId }: FloorMeans, id: string, field: string) => ({
  Update: {
    TableName: tableName,
    Key: raw({ pk: `LEDGER#${clientId}`, sk: `SHARD#${shardOf(id)}` }),
    UpdateExpression: 'ADD #field :by',
    ExpressionAttributeNames: { '#field': field },
    ExpressionAttributeValues: raw({ ':by': 1 }),
  },
})

export const get = async ({ table, tableName: TableName }: FloorMeans, id: string) => {
  const { Item = {} } = await table.send(
    new GetItemCommand({ TableName, Key: raw(paymentKey(id)), ConsistentRead: true }),
  )
  return unmarshall(Item)
}

const ofPartition = (TableName: string, pk: string) =>
  new QueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: raw({ ':pk': pk }),
    ConsistentRead: true,
  })

/** The newest by the index, what they are by the table, and how many there are by the ledger. */
export const list = async ({ table, tableName: TableName, clientId }: FloorMeans) => {
  const ledger = await table.send(ofPartition(TableName, `LEDGER#${clientId}`))
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
export const applyCallback = async (means: FloorMeans, body: unknown) => {
  const { table, tableName: TableName, clientId: owner, sqs, queueUrl: QueueUrl } = means
  const { data } = v.parse(Callback, body)
  const id = data.reference_id.slice(0, 36)
  const payment = await get(means, id)
  const { captures } = v.parse(Capture, await ask(means, 'GET', `/v3/payments/${data.payment_id}`))
  await table.send(ofPartition(TableName, endpointKey(owner).pk))
  const [now, event_id] = [new Date().toISOString(), randomUUID()]
  const net_minor = Number(captures[0]?.capture_amount) - FEE_MINOR
  const paid = { ...payment, status: 'succeeded', paid_at: now, net_minor }
  const sent = JSON.stringify({ event: 'payment.succeeded', event_id, timestamp: now, data: paid })
  const event = { ...eventKey(id), event_id, body: sent, entity: 'event', owner, id, listed_at: now }
  const listed = { entity: 'delivery', owner, id, listed_at: now, work: 'floor', slot: 2, due_at: now }
  const steps = [
    replaced(TableName, 'pending', { ...paid, ...paymentKey(id) }),
    count(means, id, 'credited_minor'),
    { Put: { TableName, Item: raw(event) } },
    { Put: { TableName, Item: raw({ ...deliveryKey(id), ...listed }) } },
  ]
  await table.send(new TransactWriteItemsCommand({ TransactItems: steps }))
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: id }))
  return { outcome: 'applied' }
}

const endpointKey = (clientId: string) => ({ pk: `ENDPOINTS#${clientId}`, sk: 'ENDPOINT#1' })
const eventKey = (id: string) => ({ pk: `PAYMENT#${id}`, sk: 'EVENT#payment.succeeded' })
const deliveryKey = (id: string) => ({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' })

const SECRET = randomUUID()

/** What a message asks for: the delivery with its endpoint, the bytes, the claim, the webhook, and what became of it. */
const deliver = async (means: FloorMeans, { Body: id = '', ReceiptHandle }: Message): Promise<void> => {
  const { table, tableName: TableName, clientId, call, webhookUrl, sqs, queueUrl: QueueUrl } = means
  const Keys = [raw(deliveryKey(id)), raw(endpointKey(clientId))]
  await table.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }))
  const { Item = {} } = await table.send(new GetItemCommand({ TableName, Key: raw(eventKey(id)) }))
  const body = String(unmarshall(Item)['body'])
  await table.send(
    new UpdateItemCommand({
      TableName,
      Key: raw(deliveryKey(id)),
      UpdateExpression: 'SET claim_token = :token',
      ConditionExpression: 'attribute_not_exists(claim_token)',
      ExpressionAttributeValues: raw({ ':token': randomUUID() }),
    }),
  )
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  await call({ method: 'POST', url: webhookUrl, headers: { 'x-gateway-signature': signature }, body })
  await table.send(
    new UpdateItemCommand({ TableName, Key: raw(deliveryKey(id)), UpdateExpression: 'REMOVE claim_token, due_at' }),
  )
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
}

/** Works off the queue until it is gone. */
export const work = async (means: FloorMeans): Promise<void> => {
  const { sqs, queueUrl: QueueUrl } = means
  for (;;) {
    const asked = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 })
    const { Messages = [] } = await sqs.send(asked)
    for (const message of Messages) void deliver(means, message)
  }
}
