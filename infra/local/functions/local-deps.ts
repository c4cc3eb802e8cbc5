import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { Deps } from '../../../shared/deps.ts'
import type { Log } from '../../../shared/log.ts'
import type { HttpCall, HttpOutcome } from '../../../shared/provider/call-json.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import type { QueueName } from '../../../shared/queues.ts'
import { retryingTable, withJoinedReads } from '../../../shared/runtime/aws/retrying-table.ts'
import { snsAlerts } from '../../../shared/runtime/aws/sent-messages.ts'
import { chosenProvider } from '../../../shared/runtime/chosen-provider.ts'
import { runInBackground } from '../../../shared/runtime/runtime-deps.ts'
import type { Sealer, Secrets } from '../../../shared/secrets.ts'
import type { StageSettings } from '../../../shared/stage-settings.ts'
import { timestampOf } from '../../../shared/time.ts'
import {
  httpsWebhookSender,
  resolveByDns,
} from '../../../shared/webhook/send/https-webhook-sender.ts'
import type { LocalTable } from '../emulators/local-table.ts'
import type { QueueEmulator } from '../emulators/queue-emulator.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { grantedDeps } from './granted-deps.ts'
import { localQueues } from './local-queues.ts'

export const LOCAL_STAGE: StageSettings = {
  name: 'local',
  allowLoopbackWebhooks: true,
  defaultReturnUrl: 'https://example.com/',
  defaultDisplayName: 'Payment',
  // The local indexes never lag, and a developer waits for the audit's answer.
  indexLagMs: 5_000,
}

/** `npm start -- --limits prod` has the limits of a stage. */
export type ClientLimits = Pick<
  StageSettings,
  'clientRateLimit' | 'clientCreateLimit' | 'pushLimit'
>

/** The provider's simulator, or its test mode, which limits calls. */
type UpstreamProvider = {
  readonly url: string
  readonly call?: (call: HttpCall) => Promise<HttpOutcome>
  readonly callsPerMinute?: () => number
}

type LocalDepsOptions = {
  /** Left out: clients have no limits. */
  readonly limits: ClientLimits | undefined
  readonly clock: LocalClock
  readonly table: Pick<LocalTable, 'requests'>
  readonly emulator: Pick<QueueEmulator, 'sqs' | 'sns'>
  readonly queueUrls: Readonly<Record<QueueName, string>>
  readonly alertsTopicArn: string
  readonly secrets: Secrets
  readonly sealer: Sealer
  readonly provider: UpstreamProvider
  readonly log: Log
}

/**
 * The dependencies of a local function: the production adapter of every port, with emulators and
 * the provider's simulator. HTTP to merchants is real. Wall-clock time comes from the local clock,
 * which can jump; waits and timeouts are real. A function has only the access of its manifest
 * entry.
 */
export function localDeps(options: LocalDepsOptions): (spec: FunctionSpec) => Deps {
  const { clock, emulator, log, provider } = options
  const monotonicMs = () => performance.now()
  const stage: StageSettings = {
    ...LOCAL_STAGE,
    ...options.limits,
    // The provider's answers change it.
    get providerCallsPerMinute() {
      return provider.callsPerMinute?.()
    },
  }
  const basics = {
    log,
    now: () => timestampOf(clock.nowMs()),
    sleep: (ms: number) => sleep(ms),
    random: Math.random,
  }
  // All functions share one memory, so that a client's rate limit counts all its calls.
  const memory: Deps['memory'] = {}
  const shared = {
    queues: localQueues(emulator.sqs, options.queueUrls, clock),
    alerts: snsAlerts(emulator.sns, options.alertsTopicArn, monotonicMs),
    secrets: options.secrets,
    sealer: options.sealer,
  }
  return (spec) => {
    const table = retryingTable(withJoinedReads(options.table.requests), basics)
    const granted = grantedDeps(LOCAL_STAGE.name, spec, { ...shared, table })
    return {
      ...basics,
      ...granted,
      memory,
      stage,
      provider: loggedProvider(
        chosenProvider({
          baseUrl: provider.url,
          ...(provider.call && { call: provider.call }),
          stage: LOCAL_STAGE.name,
          secrets: granted.secrets,
          nowMs: () => clock.nowMs(),
        }),
        { log, monotonicMs },
      ),
      sendWebhook: httpsWebhookSender({ ...LOCAL_STAGE, monotonicMs }),
      realNowMs: Date.now,
      resolveHost: resolveByDns,
      monotonicMs,
      newId: randomUUID,
      randomBytes,
      runInBackground,
    }
  }
}
