import { createSimulatorCore, type SimulatorCore } from '../../infra/local/provider-simulator/simulator-core.ts'
import type { Alert } from '../../shared/alerts.ts'
import type { QueueName } from '../../shared/queues.ts'
import { callbackSecretName, providerSecretName } from '../../shared/secrets.ts'
import type { ProviderFees } from '../../shared/stage-settings.ts'
import type { Environment } from './environments.ts'
import { type Faults, NO_FAULTS } from './faults.ts'
import { type LoadedFunction } from './handlers.ts'
import { createMerchants, type Merchants } from './merchants.ts'
import { createPrng, type Prng } from './prng.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { createSimQueue, type SimQueue } from './sim-queue.ts'
import { createSimTable, type SimTable } from './sim-table/sim-table.ts'
import type { TableChange } from './sim-table/table-view.ts'
import { count, type Tally } from './tally.ts'

export const SIM_STAGE = 'sim'
export const PROVIDER_KEY = 'xnd_development_simulation'
export const CALLBACK_TOKEN = 'simulation-callback-token'
const START_MS = Date.UTC(2026, 10, 2, 3, 0, 0)

export type World = {
  readonly seed: number
  readonly prng: Prng
  /** For what the provider books beside payments: of its own, so that it changes nothing else about a seed. */
  readonly oddities: Prng
  readonly providerFees: ProviderFees
  readonly scheduler: Scheduler
  readonly functions: ReadonlyMap<string, LoadedFunction>
  readonly table: SimTable
  readonly queues: Readonly<Record<QueueName, SimQueue>>
  readonly provider: SimulatorCore
  readonly merchants: Merchants
  readonly alerts: Alert[]
  readonly logLines: string[]
  readonly secrets: Map<string, string>
  readonly tally: Tally
  /** What happened, in words, when a trace is wanted. */
  readonly story: string[]
  readonly tracing: boolean
  faults: Faults
  /** Told when a message was sent. */
  readonly onSent: ((queue: QueueName) => void)[]
  /** Queues whose consumer stands still, so that a test can take their messages itself. */
  readonly paused: Set<QueueName>
  /** Warm environments of each function that wait, frozen, for its next invocation. */
  readonly idle: Map<string, Environment[]>
  /** Told of every change of an item, at the moment it is made. */
  readonly onChange: ((change: TableChange) => void)[]
  /** Told of a callback the provider sends; answers the HTTP status, or rejects. */
  sendCallback: (body: string, headers: Readonly<Record<string, string>>) => Promise<number>
}

export type WorldOptions = {
  readonly seed: number
  readonly functions: ReadonlyMap<string, LoadedFunction>
  readonly tracing?: boolean
  readonly providerFees?: ProviderFees
}

/** The world around the handlers: storage, queues, provider, merchants and time, all drawn from one seed. */
export const createWorld = ({ seed, functions, tracing = false, providerFees = 'deducted' }: WorldOptions): World => {
  const prng = createPrng(seed)
  const scheduler = createScheduler(START_MS)
  const onChange: World['onChange'] = []
  const ids = prng.fork()
  const provider = createSimulatorCore({
    clock: { nowMs: scheduler.nowMs, at: scheduler.at },
    newUuid: ids.uuid,
    baseUrl: () => 'https://provider.example',
    callbackToken: CALLBACK_TOKEN,
    sendCallback: (callback) => world.sendCallback(callback.body, callback.headers),
  })
  const world: World = {
    seed,
    prng,
    oddities: createPrng(~seed),
    providerFees,
    scheduler,
    functions,
    table: createSimTable({
      onChange: (change) => {
        for (const listen of onChange) listen(change)
      },
    }),
    queues: {
      webhooks: createSimQueue({ visibilityMs: 150_000, maxReceiveCount: 5 }),
      settlements: createSimQueue({ visibilityMs: 3_600_000, maxReceiveCount: 5 }),
    },
    provider,
    merchants: createMerchants(prng.fork()),
    alerts: [],
    logLines: [],
    secrets: new Map([
      [providerSecretName(SIM_STAGE), JSON.stringify({ secret_key: PROVIDER_KEY })],
      [callbackSecretName(SIM_STAGE), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] })],
    ]),
    tally: new Map(),
    story: [],
    tracing,
    faults: NO_FAULTS,
    onSent: [],
    paused: new Set(),
    idle: new Map(),
    onChange,
    sendCallback: () => Promise.reject(new Error('nobody listens for callbacks yet')),
  }
  if (providerFees === 'invoiced') {
    provider.orderFault({ target: 'transactions', fault: 'fee_invoiced', times: Number.MAX_SAFE_INTEGER })
  }
  return world
}

/** Adds a line to the story, with simulated time; free when nobody traces. */
export const tell = (world: World, line: () => string): void => {
  if (!world.tracing) return
  world.story.push(`${new Date(world.scheduler.nowMs()).toISOString()} ${line()}`)
}

/** Draws whether a fault strikes, and counts it when it does. */
export const strikes = (world: World, fault: keyof Faults): boolean => {
  if (!world.prng.chance(world.faults[fault])) return false
  count(world.tally, `fault ${fault}`)
  tell(world, () => `  ! ${fault}`)
  return true
}
