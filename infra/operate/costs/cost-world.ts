import { createHash, randomUUID } from 'node:crypto'
import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { Context } from 'aws-lambda'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { Deps } from '../../../shared/deps.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit.ts'
import type { QueueMessage, QueueName } from '../../../shared/queues.ts'
import { documentClient } from '../../../shared/runtime/aws/aws-table.ts'
import { dynamoDbTable } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { timestampOf } from '../../../shared/time.ts'
import { createTable } from '../../local/emulators/create-table.ts'
import { localAws } from '../../local/emulators/dynamodb-local.ts'
import { loadHandlers } from '../../local/functions/load-handlers.ts'
import { type LocalClock, startLocalClock } from '../../local/process/local-clock.ts'
import { type LocalRequest, startLocalHttpServer } from '../../local/process/local-http-server.ts'
import { startProviderSimulator } from '../../local/provider-simulator/provider-simulator.ts'
import { countingClient } from './counting-client.ts'
import { countingLog } from './counting-log.ts'
import { storedBytes } from './stored-bytes.ts'

const STAGE = 'costs'
/** Always the same day: settlement days of the provider depend on the weekday. */
const A_MONDAY = Date.UTC(2026, 10, 23, 4)
const SECRET_KEY = 'xnd_development_costs'
export const CALLBACK_TOKEN = 'costs-callback-token'

/**
 * The real handlers on a table of their own in DynamoDB Local and on the provider's simulator, with everything counted
 * that costs money. Queues only remember what was sent; merchants answer at once, as told.
 */
export const startCostWorld = async (dynamodbEndpoint: string) => {
  await using started = new AsyncDisposableStack()
  const { callbacks, receiver } = await startCallbackReceiver()
  started.defer(() => receiver.close())
  const clock = startLocalClock({ offsetMs: A_MONDAY - Date.now() })
  started.defer(() => clock.close())
  const simulator = await startProviderSimulator({
    clock,
    port: 0,
    secretKey: SECRET_KEY,
    callbackUrl: () => `${receiver.url}/callbacks/xendit`,
    callbackToken: CALLBACK_TOKEN,
  })
  started.defer(() => simulator.close())

  const name = `gateway-costs-${randomUUID()}`
  await createTable(dynamodbEndpoint, name)
  const plain = documentClient(localAws(dynamodbEndpoint))
  started.defer(async () => plain.destroy())
  const counting = countingClient(plain)
  const logged = countingLog(`gateway-${STAGE}`)
  const sent: CostDeps['sent'] = []
  const merchant = { answers: 200 }
  const deps = costDeps({
    client: counting.client,
    tableName: name,
    providerUrl: simulator.url,
    clock,
    log: logged.log,
    sent,
    merchant,
  })
  const invoke = await handlersOn(deps)
  const running = started.move()
  return {
    clock,
    sent,
    callbacks,
    merchant,
    invoke,
    stored: () => storedIn(plain, name),
    providerUrl: simulator.url,
    providerAuthorization: `Basic ${Buffer.from(`${SECRET_KEY}:`).toString('base64')}`,
    table: deps.table,
    takeUnits: counting.take,
    takeLogBytes: logged.take,
    seriesCount: logged.seriesCount,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

export type CostWorld = Awaited<ReturnType<typeof startCostWorld>>

/** Keeps the provider's callbacks, to be handed to the function when its turn comes. */
const startCallbackReceiver = async () => {
  const callbacks: LocalRequest[] = []
  const receiver = await startLocalHttpServer({
    port: 0,
    answer: (request) => {
      callbacks.push(request)
      return { status: 200, body: '{}' }
    },
  })
  return { callbacks, receiver }
}

/** Every function of the manifest, to be called by name. */
const handlersOn = async (deps: Deps) => {
  const handlers = new Map(
    (await loadHandlers(MANIFEST)).map(({ spec, withDeps }) => [spec.name, withDeps(deps)] as const),
  )
  return async (functionName: string, event: unknown): Promise<unknown> => {
    const handler = handlers.get(functionName)
    if (!handler) throw new Error(`there is no function ${functionName}`)
    return handler(event, contextOf(functionName))
  }
}

type CostDeps = Pick<Deps, 'log'> & {
  readonly client: DynamoDBDocumentClient
  readonly tableName: string
  readonly providerUrl: string
  readonly clock: LocalClock
  readonly sent: { readonly queue: QueueName; readonly message: QueueMessage }[]
  readonly merchant: { readonly answers: number }
}

const costDeps = ({ client, tableName, log, providerUrl, clock, sent, merchant }: CostDeps): Deps => {
  const secrets = new Map([
    [providerSecretName(STAGE), JSON.stringify({ secret_key: SECRET_KEY })],
    [callbackSecretName(STAGE), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] })],
  ])
  // Nothing takes any time, so that the same code logs the same bytes.
  const monotonicMs = () => 0
  const means = {
    ...sameEveryTime(),
    log,
    now: () => timestampOf(clock.nowMs()),
    sleep: async () => undefined,
  }
  const kept = { get: async (secret: string) => secrets.get(secret) }

  return {
    stage: {
      name: STAGE,
      allowLoopbackWebhooks: false,
      defaultReturnUrl: 'https://merchant.example/paid',
      defaultDisplayName: 'Warung Kopi',
    },
    ...means,
    table: dynamoDbTable({ client, name: tableName }, means),
    provider: loggedProvider(
      xenditProvider({ baseUrl: providerUrl, stage: STAGE, secrets: kept, nowMs: () => clock.nowMs() }),
      {
        log,
        monotonicMs,
      },
    ),
    queues: { send: async (queue, message) => void sent.push({ queue, message }) },
    alerts: { publish: async () => undefined },
    secrets: {
      ...kept,
      create: async (secret, value) => void secrets.set(secret, value),
      replace: async (secret, value) => void secrets.set(secret, value),
      remove: async (secret) => void secrets.delete(secret),
    },
    sendWebhook: async () => ({
      delivered: merchant.answers === 200,
      httpStatus: merchant.answers,
      error: undefined,
      responseBody: 'ok',
      durationMs: 120,
    }),
    resolveHost: async () => [{ address: '93.184.216.34', family: 4 }],
    monotonicMs,
  }
}

/** Ids decide in which slot and shard a thing is, and so how many digits are stored: drawn, the figures would differ. */
const sameEveryTime = (): Pick<Deps, 'newId' | 'random' | 'randomBytes'> => {
  let drawn = 0
  const next = () => createHash('sha256').update(String(drawn++)).digest()
  return {
    newId: () => {
      const hex = next().toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    },
    random: () => next().readUInt32BE() / 2 ** 32,
    randomBytes: (length) => Buffer.concat(Array.from({ length: Math.ceil(length / 32) }, next)).subarray(0, length),
  }
}

/** Bytes of all items that are there now, with their index entries. */
const storedIn = async (client: DynamoDBDocumentClient, name: string): Promise<number> => {
  let bytes = 0
  let ExclusiveStartKey: Record<string, unknown> | undefined
  do {
    const page = await client.send(new ScanCommand({ TableName: name, ExclusiveStartKey }))
    for (const item of page.Items ?? []) bytes += storedBytes(item, Object.values(TABLE_SCHEMA.indexes))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
  return bytes
}

const contextOf = (functionName: string): Context => ({
  awsRequestId: randomUUID(),
  functionName,
  functionVersion: '1',
  invokedFunctionArn: '',
  memoryLimitInMB: '512',
  logGroupName: '',
  logStreamName: '',
  callbackWaitsForEmptyEventLoop: false,
  getRemainingTimeInMillis: () => 60_000,
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
})
