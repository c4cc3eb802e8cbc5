import * as v from 'valibot'
import { MANIFEST } from '../../functions/manifest.ts'
import { DeliveryIdSchema } from '../../shared/ids.ts'
import { ifValid } from '../../shared/if-valid.ts'
import { byQueue, QUEUE_NAMES, type QueueName } from '../../shared/queues.ts'
import { callbackSecretName, providerSecretName, type Secrets } from '../../shared/secrets.ts'
import { deliveryKey, endpointKey, testDeliveryKey } from '../../shared/table/keys.ts'
import { DeliverySchema } from '../../shared/webhook/delivery/delivery.ts'
import { SealedEndpointSchema } from '../../shared/webhook/endpoint/endpoint.ts'
import { QUEUE_SETTINGS } from '../stack/settings/queue-settings.ts'
import { startActivityFeed } from './console/activity/activity-feed.ts'
import { answerConsole, type ConsoleParts } from './console/answer-console.ts'
import { answerDocumentation } from './console/answer-documentation.ts'
import { answerStartPage } from './console/answer-start-page.ts'
import { type AlertInbox, startAlertInbox } from './emulators/alert-inbox.ts'
import { localSealer, localSealKey } from './emulators/local-sealer.ts'
import type { LocalTable, TableKind } from './emulators/local-table.ts'
import { startQueueEmulator } from './emulators/queue-emulator.ts'
import { type InboxSecrets, startWebhookInbox } from './emulators/start-webhook-inbox.ts'
import { type FunctionHost, hostFunctions } from './functions/function-host.ts'
import { handlersOnDemand } from './functions/load-handlers.ts'
import { type ClientLimits, LOCAL_STAGE, localDeps } from './functions/local-deps.ts'
import { type LocalLog, localLog } from './functions/local-log.ts'
import { claimForProvider, type DataDirectory } from './process/data-directory.ts'
import { readJsonFile, writeJsonFile } from './process/json-file.ts'
import { type LocalClock, startLocalClock } from './process/local-clock.ts'
import { startLocalHttpServer } from './process/local-http-server.ts'
import { withTimeout } from './process/with-timeout.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from './provider-simulator/simulator-keys.ts'
import { startProviderSimulator } from './provider-simulator/start-provider-simulator.ts'
import { type DemoClient, seedDemoClient } from './seed-demo-client.ts'
import { answerCustomer } from './test-provider/answer-customer.ts'
import { proveKey } from './test-provider/prove-key.ts'
import type { TestEnvironment } from './test-provider/test-environment.ts'
import { watchPending } from './test-provider/watch-pending.ts'
import { type EventSources, startEventSources } from './triggers/start-event-sources.ts'
import { CALLBACK_PATH, startHttpGateway } from './triggers/start-http-gateway.ts'
import { startLambdaServer } from './triggers/start-lambda-server.ts'

/** How long `close` waits for requests and deliveries in progress. */
const DRAIN_MS = 3_000

export type LocalCloudOptions = {
  /** Lambda, provider and inbox take the next three ports. 0 takes free ports. */
  readonly port: number
  /** Without a directory all state is in memory. */
  readonly dataDirectory?: string
  /** Default: DynamoDB Local if this machine can start it, else memory. */
  readonly table?: TableKind
  readonly limits?: ClientLimits | undefined
  /** By default the machine's time. A data directory keeps its clock. */
  readonly startsAtMs?: number
  /** The provider's test mode instead of its simulator. The clock then cannot jump. */
  readonly testEnvironment?: TestEnvironment | undefined
  readonly writeLog?: (line: string) => void
  readonly onProgress?: (step: string) => void
  /** Called when a part has ended for good: close the cloud then. */
  readonly onFailure?: (error: Error) => void
  /** Aborting ends a start in progress, with all started parts. */
  readonly signal?: AbortSignal
}

type Assembly = LocalCloudOptions & {
  readonly data: DataDirectory | undefined
  readonly tableOpening: Promise<LocalTable>
}

type ReadyParts = { readonly host: FunctionHost; readonly alerts: AlertInbox['alerts'] } & Pick<
  EventSources,
  'attemptsEnded'
> &
  ConsoleParts

/** Disposing `parts` ends every started part. */
export async function assembleCloud(
  parts: AsyncDisposableStack,
  { data, tableOpening, ...options }: Assembly,
) {
  const { testEnvironment } = options
  claimForProvider(data, testEnvironment !== undefined)
  const clock = openClock(data, options.startsAtMs)
  parts.defer(() => clock.close())
  const log = localLog(clock, options.writeLog)

  // Servers first: a port in use ends the start at once, and callbacks of an earlier run are
  // received.
  const { promise: ready, resolve: open } = Promise.withResolvers<ReadyParts>()
  let demoClient: DemoClient | undefined
  const secrets: InboxSecrets = {
    ofDemo: () => demoClient?.signing_secret,
    ofDelivery: async () => undefined,
  }
  const { port } = options
  const family = { port, clock, log, data, ready, secrets, testEnvironment }
  const servers = await startServers(parts, family)
  if (testEnvironment) await proveKey(testEnvironment)

  options.onProgress?.('queues, the table and its functions')
  const messaging = await openQueues(parts, data, clock)
  const table = await tableOpening
  options.signal?.throwIfAborted()

  const started = { options, data, clock, log, table, messaging, servers, secrets }
  const { host, sources } = startFunctions(parts, started)

  options.onProgress?.('a demo merchant')
  const inboxUrl = servers.merchant.url
  demoClient = await seedDemoClient({ host, inboxUrl, file: data?.demoClient })
  options.signal?.throwIfAborted()
  const activity = startActivityFeed({ clock, log })
  parts.defer(() => activity.close())
  const { urls } = servers
  const about = { urls, client: demoClient }
  const attemptsEnded = async (jumpEnd: Promise<void>) => {
    await servers.provider.callbacksEnded()
    await sources.attemptsEnded(jumpEnd)
  }
  open({ host, alerts: messaging.alerts, attemptsEnded, activity, about })

  const runningParts = parts.move()
  void table.exitOutput.then((output) => {
    if (!runningParts.disposed) options.onFailure?.(tableEndedError(output))
  })
  return {
    urls,
    clock,
    demoClient,
    table,
    testEnvironment,
    close: () => runningParts.disposeAsync(),
  }
}

type StartedParts = Pick<ServersOptions, 'data' | 'clock' | 'log' | 'secrets'> & {
  readonly options: Pick<LocalCloudOptions, 'limits' | 'testEnvironment'>
  readonly table: LocalTable
  readonly messaging: Awaited<ReturnType<typeof openQueues>>
  readonly servers: Awaited<ReturnType<typeof startServers>>
}

/** Connects the manifest's functions to what they use, and to their queues and schedules. */
function startFunctions(
  parts: AsyncDisposableStack,
  { options, data, clock, log, table, messaging, servers, secrets }: StartedParts,
) {
  const { limits, testEnvironment } = options
  const depsFor = localDeps({
    limits,
    clock,
    table,
    ...messaging,
    secrets: secretsFor(testEnvironment),
    sealer: localSealer({ stage: LOCAL_STAGE.name, key: localSealKey(data?.sealKey) }),
    provider: testEnvironment ?? { url: servers.provider.url },
    log,
  })
  secrets.ofDelivery = secretsOfDeliveries(depsFor)
  const host = hostFunctions(handlersOnDemand(MANIFEST), { stage: LOCAL_STAGE.name, depsFor, log })
  const sources = startEventSources({ host, clock, ...messaging })
  parts.defer(async () => {
    const closing = [servers.api.close(DRAIN_MS), servers.lambda.close(DRAIN_MS), sources.close()]
    await withTimeout<unknown>(DRAIN_MS, Promise.all(closing), () => undefined)
  })
  if (testEnvironment && !testEnvironment.publicUrl) {
    const depsNamed = depsOf(depsFor)
    const reader = depsNamed('api-list-payments')
    const watch = watchPending({ host, reader, writer: depsNamed('receive-provider-callback') })
    parts.defer(() => watch.close())
  }
  return { host, sources }
}

const ClockState = v.object({ offset_ms: v.pipe(v.number(), v.safeInteger()) })

/** With a data directory the clock keeps its offset from the machine's clock across restarts. */
function openClock(data: DataDirectory | undefined, startsAtMs: number | undefined) {
  if (!data) return startLocalClock({ offsetMs: (startsAtMs ?? Date.now()) - Date.now() })
  return startLocalClock({
    offsetMs: readJsonFile(data.clock, ClockState)?.offset_ms ?? 0,
    keepOffset: (offsetMs) => writeJsonFile(data.clock, { offset_ms: offsetMs }),
  })
}

type ServersOptions = Pick<Assembly, 'port' | 'data'> & {
  readonly clock: LocalClock
  readonly log: LocalLog
  readonly ready: Promise<ReadyParts>
  readonly secrets: InboxSecrets
  readonly testEnvironment: TestEnvironment | undefined
}

/** Listens on the four ports, until `parts` is disposed. */
async function startServers(
  parts: AsyncDisposableStack,
  { port, clock, log, data, ready, secrets, testEnvironment }: ServersOptions,
) {
  const family = new Set<number>()
  const optionsAt = (offset: number) => ({ port: port === 0 ? 0 : port + offset, family, clock })
  const closeAtEnd = <Server extends { close(): Promise<void> }>(server: Server) => {
    parts.defer(() => server.close())
    return server
  }
  const pages = [answerStartPage(ready), answerConsole(ready), answerDocumentation]
  const publicUrl = testEnvironment?.publicUrl
  const api = closeAtEnd(await startHttpGateway({ ...optionsAt(0), ready, pages, publicUrl }))
  const hasRealTime = testEnvironment !== undefined
  const lambda = closeAtEnd(await startLambdaServer({ ...optionsAt(1), ready, log, hasRealTime }))
  const provider = closeAtEnd(
    testEnvironment
      ? {
          ...(await startLocalHttpServer({
            ...optionsAt(2),
            answer: answerCustomer(testEnvironment, ready),
          })),
          // A real provider does not say which callbacks are under way.
          callbacksEnded: async () => undefined,
        }
      : await startProviderSimulator({
          ...optionsAt(2),
          secretKey: PROVIDER_KEY,
          callbackUrl: () => api.url + CALLBACK_PATH,
          callbackToken: CALLBACK_TOKEN,
          stateFile: data?.simulator,
        }),
  )
  const merchant = closeAtEnd(await startWebhookInbox({ ...optionsAt(3), secrets }))
  const urls = { api: api.url, lambda: lambda.url, provider: provider.url, inbox: merchant.url }
  return { api, lambda, provider, merchant, urls }
}

/** Starts SQS and SNS with the gateway's queues and topic, until `parts` is disposed. */
async function openQueues(
  parts: AsyncDisposableStack,
  data: DataDirectory | undefined,
  clock: LocalClock,
) {
  const emulator = await startQueueEmulator(data?.queues)
  parts.defer(() => emulator.close())
  const resourceName = (name: string) => `gateway-${LOCAL_STAGE.name}-${name}`
  const urls = new Map<QueueName, string>()
  for (const name of QUEUE_NAMES)
    urls.set(name, await emulator.queue(resourceName(name), QUEUE_SETTINGS[name]))
  const queueUrls = byQueue((name) => urls.get(name) ?? '')
  const queueUrl = await emulator.queue(resourceName('operator'))
  const alertsTopicArn = await emulator.subscribedTopic(resourceName('alerts'), queueUrl)
  const inbox = startAlertInbox({ sqs: emulator.sqs, queueUrl, clock, file: data?.alerts })
  parts.defer(() => inbox.close())
  return { emulator, queueUrls, alertsTopicArn, alerts: inbox.alerts }
}

/** The simulator knows only these secrets, so with it every local gateway has the same. */
function secretsFor(environment: TestEnvironment | undefined): Secrets {
  const { secretKey = PROVIDER_KEY, callbackToken = CALLBACK_TOKEN } = environment ?? {}
  const values = new Map([
    [providerSecretName(LOCAL_STAGE.name), JSON.stringify({ secret_key: secretKey })],
    [callbackSecretName(LOCAL_STAGE.name), JSON.stringify({ callback_tokens: [callbackToken] })],
  ])
  return { get: async (name) => values.get(name) }
}

function depsOf(depsFor: ReturnType<typeof localDeps>) {
  return (name: string) => {
    const spec = MANIFEST.find((candidate) => candidate.name === name)
    if (spec === undefined) throw new Error(`the manifest has no ${name}`)
    return depsFor(spec)
  }
}

/** Reads the secret that signed a delivery. */
function secretsOfDeliveries(depsFor: ReturnType<typeof localDeps>): InboxSecrets['ofDelivery'] {
  const { table, sealer } = depsOf(depsFor)('deliver-webhook')
  return async (id) => {
    const deliveryId = ifValid(DeliveryIdSchema, id)
    const keys = deliveryId ? [deliveryKey(deliveryId), testDeliveryKey(deliveryId)] : []
    const row = (await table.getMany(keys)).find((item) => item !== undefined)
    const delivery = ifValid(DeliverySchema, row)
    const [owner] = delivery ? await table.getMany([endpointKey(delivery)]) : []
    const { sealedSecret } = ifValid(SealedEndpointSchema, owner) ?? {}
    return delivery && sealedSecret ? sealer.unseal(sealedSecret, delivery) : undefined
  }
}

function tableEndedError(output: string) {
  return new Error(
    `DynamoDB Local ended unexpectedly; start the gateway again. Its last output: ${output.trim()}`,
  )
}
