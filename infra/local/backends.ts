import * as v from 'valibot'
import { byQueue, QUEUE_NAMES, type QueueName } from '../../shared/queues.ts'
import { callbackSecretName, providerSecretName, type Sealer, type Secrets } from '../../shared/secrets.ts'
import { QUEUE_SETTINGS } from '../stack/triggers/queue-settings.ts'
import { startAlertInbox } from './emulators/alert-inbox.ts'
import { localSealer, localSealKey } from './emulators/local-sealer.ts'
import { startQueueEmulator } from './emulators/queue-emulator.ts'
import { LOCAL_STAGE } from './functions/local-deps.ts'
import type { DataDirectory } from './process/data-directory.ts'
import { readJsonFile, writeJsonFile } from './process/json-file.ts'
import { type LocalClock, startLocalClock } from './process/local-clock.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from './provider-simulator/simulator-keys.ts'

const ClockState = v.object({ offset_ms: v.pipe(v.number(), v.safeInteger()) })

/** The gateway's clock. With a data directory it keeps its offset from the machine's clock across restarts. */
export const openClock = (data: DataDirectory | undefined): LocalClock => {
  if (!data) return startLocalClock()
  return startLocalClock({
    offsetMs: readJsonFile(data.clock, ClockState)?.offset_ms ?? 0,
    keepOffset: (offsetMs) => writeJsonFile(data.clock, { offset_ms: offsetMs }),
  })
}

/** Starts SQS and SNS with the gateway's queues and topic, until `started` is disposed. */
export const openQueues = async (started: AsyncDisposableStack, data: DataDirectory | undefined, clock: LocalClock) => {
  const emulator = await startQueueEmulator(data?.queues)
  started.defer(() => emulator.close())
  const named = (name: string) => `gateway-${LOCAL_STAGE.name}-${name}`
  const urls = new Map<QueueName, string>()
  for (const name of QUEUE_NAMES) urls.set(name, await emulator.queue(named(name), QUEUE_SETTINGS[name]))
  const queueUrls = byQueue((name) => urls.get(name) ?? '')
  const queueUrl = await emulator.queue(named('operator'))
  const alertsTopicArn = await emulator.topicInto(named('alerts'), queueUrl)
  const inbox = startAlertInbox({ sqs: emulator.sqs, queueUrl, clock, file: data?.alerts })
  started.defer(() => inbox.close())
  return { emulator, queueUrls, alertsTopicArn, alerts: inbox.alerts }
}

const SECRETS = new Map([
  [providerSecretName(LOCAL_STAGE.name), JSON.stringify({ secret_key: PROVIDER_KEY })],
  [callbackSecretName(LOCAL_STAGE.name), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] })],
])

/**
 * The provider's key and callback tokens are the same in every local gateway, because the simulator knows only these.
 * With a data directory, the sealer's key survives the process.
 */
export const openSecrets = (data: DataDirectory | undefined): Readonly<{ secrets: Secrets; sealer: Sealer }> => ({
  secrets: { get: async (name) => SECRETS.get(name) },
  sealer: localSealer({ stage: LOCAL_STAGE.name, key: localSealKey(data?.sealKey) }),
})
