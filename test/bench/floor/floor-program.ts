import { randomUUID } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { startProviderSimulator } from '../../../infra/local/provider-simulator/provider-simulator.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { httpCaller } from '../local/http-caller.ts'
import { type FloorMeans, floorCalls } from './floor-calls.ts'
import { floorWorker } from './floor-worker.ts'

/**
 * A program that does what nobody who keeps payments in this table can leave out, and nothing else: it believes every
 * caller, checks nothing and logs nothing. Like the local gateway it has the provider's simulator and the queues'
 * emulator in its own process.
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
  table: client,
  tableName,
  call,
  providerUrl: simulator.url,
  webhookUrl,
  sqs: emulator.sqs,
  queueUrl: await emulator.queue('floor'),
  clientId: randomUUID(),
}
const calls = floorCalls(means)
void floorWorker(means)

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += String(part)
  return text
}

const answer = async (request: IncomingMessage): Promise<readonly [number, unknown]> => {
  const { pathname } = new URL(request.url ?? '', 'http://floor')
  if (request.method === 'POST') {
    const body: unknown = JSON.parse(await bodyOf(request))
    return pathname === '/v1/payments' ? [201, await calls.create(body)] : [200, await calls.applyCallback(body)]
  }
  const id = /^\/v1\/payments\/([0-9a-f-]+)$/.exec(pathname)?.[1]
  return [200, id === undefined ? await calls.list() : await calls.get(id)]
}

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  const reply = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  answer(request).then(
    ([status, body]) => reply(status, body),
    (error: unknown) => reply(500, { message: String(error) }),
  )
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  process.send?.({ api: `http://127.0.0.1:${port}`, provider: simulator.url })
})
process.once('disconnect', () => process.exit())
