import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { startProviderSimulator } from '../../../infra/local/provider-simulator/provider-simulator.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { httpCaller } from '../local/http-caller.ts'
import { applyCallback, create, type FloorMeans, get, list, work } from './floor-calls.ts'

/**
 * A program that does what a gateway with this table cannot leave out, and nothing else: it believes every caller,
 * checks nothing and logs nothing. Like the local gateway it has the provider's simulator, the queues' emulator and the
 * local HTTP server in its own process.
 * Arguments: the table's endpoint, its name, and where webhooks go.
 */
const [endpoint = '', tableName = '', webhookUrl = ''] = process.argv.slice(2)

const simulator = await startProviderSimulator({
  clock: startLocalClock(),
  port: 0,
  secretKey: PROVIDER_KEY,
  callbackUrl: () => 'http://127.0.0.1:1/',
  callbackToken: CALLBACK_TOKEN,
})
const client = new DynamoDBClient({
  cacheMiddleware: true,
  ...localAws(endpoint),
  requestHandler: {
    httpAgent: new Agent({ keepAlive: true, maxSockets: 200 }),
    socketAcquisitionWarningTimeout: 60_000,
  },
})
const { call } = httpCaller()
const emulator = await startQueueEmulator()
const means: FloorMeans = {
  table: dynamoDbRequests({ client, name: tableName }),
  call,
  providerUrl: simulator.url,
  webhookUrl,
  sqs: emulator.sqs,
  queueUrl: await emulator.queue('floor'),
  clientId: randomUUID(),
}
void work(means)

const server = await startLocalHttpServer({
  port: 0,
  answer: async ({ method, path, body }) => {
    const sent = (): unknown => JSON.parse(body.toString('utf8'))
    if (path === '/callbacks/xendit') return jsonReply(200, await applyCallback(means, sent()))
    if (method === 'POST') return jsonReply(201, await create(means, sent()))
    const id = /^\/v1\/payments\/([0-9a-f-]+)$/.exec(path)?.[1]
    return jsonReply(200, id === undefined ? await list(means) : await get(means, id))
  },
})
process.once('disconnect', () => process.exit())
process.send?.({ api: server.url, provider: simulator.url })
