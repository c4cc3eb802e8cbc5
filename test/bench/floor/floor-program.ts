import { createHmac, randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { localAws } from '../../../infra/local/emulators/local-aws.ts'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import {
  CALLBACK_TOKEN,
  PROVIDER_HEADERS,
  PROVIDER_KEY,
} from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { startProviderSimulator } from '../../../infra/local/provider-simulator/start-provider-simulator.ts'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { absent, equals, isNew, put, update } from '../../../shared/table/step.ts'
import { call } from './programs.ts'

type FloorMeans = typeof floorMeans

const FEE_MINOR = 4_000

const Request = v.looseObject({
  amount: v.number(),
  channel_code: v.string(),
  external_reference: v.string(),
})
const Upstream = v.object({
  payment_request_id: v.string(),
  actions: v.array(v.object({ value: v.optional(v.string()) })),
})
const Callback = v.object({ data: v.object({ payment_id: v.string(), reference_id: v.string() }) })
const Capture = v.object({ captures: v.array(v.object({ capture_amount: v.number() })) })

/**
 * A program that does what a gateway with this table cannot leave out, and nothing else: it
 * believes every caller, checks nothing and logs nothing. Like the local gateway it has the
 * provider's simulator, the queues' emulator and the local HTTP server in its own process.
 * Arguments: the table's endpoint, its name, and where webhooks go.
 */
const [endpoint = '', tableName = '', receiverUrl = ''] = process.argv.slice(2)

const simulator = await startProviderSimulator({
  clock: startLocalClock(),
  port: 0,
  secretKey: PROVIDER_KEY,
  callbackUrl: () => 'http://127.0.0.1:1/',
  callbackToken: CALLBACK_TOKEN,
})
const client = new DynamoDBClient({
  ...localAws(endpoint),
  requestHandler: {
    httpAgent: new Agent({ keepAlive: true, maxSockets: 200 }),
    socketAcquisitionWarningTimeout: 60_000,
  },
})
const emulator = await startQueueEmulator()
const floorMeans = {
  table: dynamoDbRequests({ client, name: tableName }),
  providerUrl: simulator.url,
  webhookUrl: receiverUrl,
  sqs: emulator.sqs,
  queueUrl: await emulator.queue('floor'),
  clientId: randomUUID(),
}
void work(floorMeans)

const server = await startLocalHttpServer({
  port: 0,
  answer: async ({ path, body }) => {
    const sent = (): unknown => JSON.parse(body.toString('utf8'))
    if (path === '/callbacks/xendit') return jsonReply(200, await applyCallback(floorMeans, sent()))
    return jsonReply(201, await create(floorMeans, sent()))
  },
})
process.once('disconnect', () => process.exit())
process.send?.({ api: server.url, provider: simulator.url })

async function work(means: FloorMeans) {
  const { sqs, queueUrl: QueueUrl } = means
  for (;;) {
    const asked = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 20,
    })
    const { Messages = [] } = await sqs.send(asked)
    for (const message of Messages) void deliver(means, message)
  }
}

async function deliver(means: FloorMeans, { Body: id = '', ReceiptHandle }: Message) {
  const { table, clientId, webhookUrl, sqs, queueUrl: QueueUrl } = means
  await table.batchGet([deliveryKey(id), endpointKey(clientId)])
  const event = await table.get(eventKey(id), { fields: ['body'], consistent: false })
  const body = String(event?.['body'])
  await table.write(
    update(deliveryKey(id), { set: { claimToken: randomUUID() } }, absent('claimToken')),
  )
  const signature = createHmac('sha256', clientId).update(body).digest('hex')
  await call({
    method: 'POST',
    url: webhookUrl,
    headers: { 'x-gateway-signature': signature },
    body,
  })
  await table.write(update(deliveryKey(id), { remove: ['claimToken', 'dueAt'] }))
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
}

function deliveryKey(id: string) {
  return { pk: `DELIVERY#${id}`, sk: 'DELIVERY' }
}

function endpointKey(clientId: string) {
  return { pk: `ENDPOINTS#${clientId}`, sk: 'ENDPOINT#1' }
}

function eventKey(id: string) {
  return { pk: `EVENT#payment#${id}`, sk: 'payment.succeeded' }
}

async function applyCallback(means: FloorMeans, body: unknown) {
  const { table, clientId: owner, sqs, queueUrl: QueueUrl } = means
  const { data } = v.parse(Callback, body)
  const id = data.reference_id.slice(0, 36)
  const payment = await table.get(paymentKey(id))
  const { captures } = v.parse(Capture, await ask(means, `/v3/payments/${data.payment_id}`))
  await table.query({ partition: [endpointKey(owner).pk], limit: 25 })
  const [now, eventId] = [new Date().toISOString(), randomUUID()]
  const netMinor = Number(captures[0]?.capture_amount) - FEE_MINOR
  const paid = { ...payment, status: 'succeeded', paidAt: now, netMinor }
  const sent = JSON.stringify({
    event: 'payment.succeeded',
    event_id: eventId,
    timestamp: now,
    data: paid,
  })
  const listed = { owner, id, listedAt: now }
  await table.transact([
    put(paymentKey(id), paid, equals('status', 'pending')),
    count(means, id, 'creditedMinor'),
    put(eventKey(id), { ...listed, eventId, body: sent, entity: 'event' }),
    put(deliveryKey(id), { ...listed, entity: 'delivery', work: 'floor', slot: 2, dueAt: now }),
  ])
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: id }))
  return { outcome: 'applied' }
}

function paymentKey(id: string) {
  return { pk: `PAYMENT#${id}`, sk: 'PAYMENT' }
}

async function ask({ providerUrl }: FloorMeans, path: string, body?: object) {
  const sent = body
    ? { method: 'POST', body: JSON.stringify(body), wanted: 201 }
    : { method: 'GET' }
  const headers = { ...PROVIDER_HEADERS, 'content-type': 'application/json' }
  return JSON.parse(await call({ url: providerUrl + path, headers, ...sent }))
}

function count({ clientId }: FloorMeans, id: string, field: string) {
  return update({ pk: `LEDGER#${clientId}`, sk: `SHARD#${id[0]}` }, { add: { [field]: 1 } })
}

/** Claims the payment so that no other caller asks the provider. */
async function create(means: FloorMeans, body: unknown) {
  const { table, clientId } = means
  const request = v.parse(Request, body)
  const [id, now] = [randomUUID(), new Date().toISOString()]
  await table.write(
    put(
      paymentKey(id),
      { clientId, status: 'creating', attempt: 1, claimedAt: now, request },
      isNew,
    ),
  )
  const answer = await ask(means, '/v3/payment_requests', {
    reference_id: `${id}-1`,
    type: 'PAY',
    country: 'ID',
    currency: 'IDR',
    request_amount: request.amount,
    channel_code: `${request.channel_code}_VIRTUAL_ACCOUNT`,
    channel_properties: { display_name: 'Floor' },
  })
  const { payment_request_id: paymentRequestId, actions } = v.parse(Upstream, answer)
  const paymentDestination = actions[0]?.value ?? ''
  const made = {
    request,
    clientId,
    createdAt: now,
    paymentRequestId,
    paymentDestination,
    providerFeeMinor: FEE_MINOR,
  }
  const listed = {
    owner: clientId,
    entity: 'payment',
    listedAt: now,
    work: 'floor',
    slot: 0,
    dueAt: now,
  }
  const payment = { id, status: 'pending', ...made, ...listed }
  await Promise.all([
    table.write(put({ pk: `DESTINATION#${paymentDestination}#${id}`, sk: now }, { paymentId: id })),
    table.write(
      put({ pk: `REFERENCE#${request.external_reference}`, sk: `${now}#${id}` }, { paymentId: id }),
    ),
  ])
  const step = put(paymentKey(id), payment, equals('status', 'creating'))
  await table.transact([step, count(means, id, 'countPending')])
  return payment
}
