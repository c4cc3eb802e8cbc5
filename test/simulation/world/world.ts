import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { createSimulatorCore } from '../../../infra/local/provider-simulator/simulator-core.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../../../infra/stack/settings/queue-settings.ts'
import type { Alert } from '../../../shared/deps.ts'
import { byQueue, type QueueName } from '../../../shared/queues.ts'
import { callbackSecretName, providerSecretName, type SealedFor } from '../../../shared/secrets.ts'
import type { HistorySteps, StageSettings } from '../../../shared/stage-settings.ts'
import { type Faults, NO_FAULTS } from './faults.ts'
import { createListeners } from './listeners.ts'
import { createMerchants } from './merchants.ts'
import { createPrng } from './prng.ts'
import type { Process } from './process.ts'
import { createScheduler } from './scheduler.ts'
import { createSimQueue } from './sim-queue.ts'
import { count, type Tally } from './tally.ts'

export const SIM_STAGE = 'sim'
export const PROVIDER_KEY = 'xnd_development_simulation'
export const CALLBACK_TOKEN = 'simulation-callback-token'
const START_MS = Date.UTC(2026, 10, 2, 3, 0, 0)

export const MAX_ROWS_A_PAGE = 50

export type WorldOptions = {
  readonly seed: number
  readonly tracing?: boolean
  readonly providerFees?: StageSettings['providerFees']
  /** The default is so small that most reads take several steps. */
  readonly historySteps?: HistorySteps
  /**
   * Rows in one page of the provider. Some histories use so few that most lists have several pages.
   */
  readonly rowsAPage?: number
}

export type World = ReturnType<typeof createWorld>

type SendCallback = (body: string, headers: Readonly<Record<string, string>>) => Promise<number>

export function createWorld({
  seed,
  tracing = false,
  providerFees = 'deducted',
  historySteps = { rows: 2, pages: 2, block: 3, atOnce: 6 },
  rowsAPage = seed % 4 < 2 && seed % 3 !== 0 ? 4 : MAX_ROWS_A_PAGE,
}: WorldOptions) {
  const prng = createPrng(seed)
  const tally: Tally = new Map()
  const scheduler = createScheduler(START_MS)
  const ids = prng.fork()
  const provider = createSimulatorCore({
    clock: { nowMs: scheduler.nowMs, at: scheduler.at },
    newUuid: ids.uuid,
    baseUrl: () => 'https://provider.example',
    callbackToken: CALLBACK_TOKEN,
    sendCallback: ({ body, headers }) => border.sendCallback(body, headers),
  })
  if (providerFees === 'invoiced') {
    provider.orderFault({
      target: 'transactions',
      fault: 'fee_invoiced',
      times: Number.MAX_SAFE_INTEGER,
    })
  }
  const border = {
    faults: NO_FAULTS,
    ...createListeners(),
    /**
     * By process: an unfinished earlier process of the same environment, which continues under the
     * same name.
     */
    sharing: new WeakMap<Process, Process>(),
    /** The process whose call to table or provider takes effect now. */
    acting: undefined as Process | undefined,
    /**
     * How far two machines' clocks may be apart in this history: an environment keeps its clock for
     * as long as it lives.
     */
    apartMs: 0,
    /** Resolves to the HTTP status, or rejects. */
    sendCallback: (() =>
      Promise.reject(new Error('no gateway listens for callbacks yet'))) as SendCallback,
  }
  const { onChange, onWritten, onRefused } = border
  const table = createMemoryTable({
    onChange: toAll(onChange),
    onWritten: toAll(onWritten),
    onRefused: toAll(onRefused),
  })
  return Object.assign(border, {
    prng,
    /**
     * A second random generator, for unusual rows and arranged scenes. It leaves the draws of
     * `prng` unchanged.
     */
    scenePrng: createPrng(~seed),
    /** Ids of the rows of reversals and won disputes, and of money without a payment. */
    reversalRowIds: [] as string[],
    providerFees,
    /**
     * The quota of background work: the provider's published quota, or a quota that is too small.
     */
    callsPerMinute: [600, 60, 12, 6][seed % 4] ?? 600,
    rowsAPage,
    pushLimit: undefined as StageSettings['pushLimit'],
    /** The duration of each call to the provider. Undefined: it is drawn for each call. */
    providerMs: undefined as number | undefined,
    /**
     * By partition: until when writes are delayed, as if other writers were busy there; in each
     * delay the rival may act.
     */
    contested: new Map<string, { readonly untilMs: number; readonly rival?: () => unknown }>(),
    /** By partition: how many of the next transactions get no answer, and the delay before each. */
    impaired: new Map<string, { readonly lost: number; readonly delayMs: number }>(),
    /**
     * By provider payment: until when the provider does not show it, although it has sent the
     * callback.
     */
    unseenUntilMs: new Map<string, number>(),
    /**
     * By payment (create), request (cancel) or path (read): how long the call takes at the
     * provider.
     */
    slowCallsMs: new Map<string, number>(),
    topicDownUntilMs: 0,
    alertFailedAtMs: 0,
    /** Until when the provider has told a caller to send no creates. */
    createsPausedUntilMs: 0,
    /** The times of the provider's calls in the last minute, by operation. */
    providerCalls: new Map<string, number[]>(),
    /** The provider's requests before their last change, by path. */
    formerRequests: new Map<string, unknown>(),
    unshownRows: new Set<string>(),
    /**
     * By payment, request or fee: until when the provider does not show it, and its answer
     * meanwhile.
     */
    withheld: new Map<
      string,
      { readonly untilMs: number; readonly says: 'nothing' | 'not found' | 'too often' }
    >(),
    /** The units that each function has used, as DynamoDB reports them. */
    unitsUsed: new Map<string, number>(),
    /** When a process last read entries. */
    listedMs: new WeakMap<Process, number>(),
    historySteps,
    scheduler,
    table,
    queues: byQueue((name) =>
      createSimQueue({
        visibilityMs: hiddenSecondsOf(name) * 1_000,
        maxReceiveCount: QUEUE_SETTINGS[name].maxReceives,
      }),
    ),
    provider,
    merchants: createMerchants(prng.fork(), (fault) => count(tally, `fault ${fault}`)),
    registrations: new Map<string, number>(),
    alerts: [] as (Alert & { readonly atMs: number })[],
    logLines: [] as string[],
    secrets: new Map([
      [providerSecretName(SIM_STAGE), JSON.stringify({ secret_key: PROVIDER_KEY })],
      [callbackSecretName(SIM_STAGE), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] })],
    ]),
    seals: new Map<string, { readonly secret: string } & SealedFor>(),
    tally,
    lastingFaults: new Map<string, { readonly isOn: boolean; readonly untilMs: number }>(),
    problems: [] as string[],
    story: [] as string[],
    tracing,
    /** Queues without a consumer: a test takes their messages itself. */
    paused: new Set<QueueName>(),
  })
}

function toAll<Args extends readonly unknown[]>(listeners: readonly ((...args: Args) => void)[]) {
  return (...args: Args) => {
    for (const listen of listeners) listen(...args)
  }
}

/** Without tracing, `line` is never called. */
export function trace(world: World, line: () => string) {
  if (!world.tracing) return
  world.story.push(`${new Date(world.scheduler.nowMs()).toISOString()} ${line()}`)
}

export function noteFault(world: World, fault: keyof Faults) {
  count(world.tally, `fault ${fault}`)
  for (const listen of world.onFault) listen(fault)
  trace(world, () => `  ! ${fault}`)
}

export function hasFault(world: World, fault: keyof Faults) {
  if (world.faults[fault] === 0 || !world.prng.chance(world.faults[fault])) return false
  noteFault(world, fault)
  return true
}

/** A millisecond if there is no worst delay. */
export function lag({ prng }: World, worstMs: number) {
  return worstMs > 0 ? prng.int(0, Math.floor(worstMs)) : 1
}

/** A lasting fault is drawn again when its time is over. */
export function isFaultOn(
  world: World,
  what: string,
  probability: number,
  minMs: number,
  maxMs: number,
) {
  if (probability === 0) return false
  const nowMs = world.scheduler.nowMs()
  const known = world.lastingFaults.get(what)
  if (known && nowMs < known.untilMs) return known.isOn
  const isOn = world.prng.chance(probability)
  world.lastingFaults.set(what, { isOn, untilMs: nowMs + world.prng.int(minMs, maxMs) })
  if (isOn) trace(world, () => `  ! ${what}`)
  if (isOn) count(world.tally, `lasting fault: ${what}`)
  return isOn
}

export const QUEUES_DOWN = 'queues down'

/** 0 while the queues can be reached. */
export function queuesDownUntilMs(world: World) {
  return isFaultOn(world, QUEUES_DOWN, world.faults.queuesDown, 60_000, 3_600_000)
    ? (world.lastingFaults.get(QUEUES_DOWN)?.untilMs ?? 0)
    : 0
}

export function addTo<Key, Value>(
  sets: { get(key: Key): Set<Value> | undefined; set(key: Key, values: Set<Value>): unknown },
  key: Key,
  value: Value,
) {
  void sets.set(key, (sets.get(key) ?? new Set()).add(value))
}

export async function runUntil<T>(world: World, promise: Promise<T>) {
  const progress = { settled: false }
  const end = () => {
    progress.settled = true
  }
  promise.then(end, end)
  while (!progress.settled && (await world.scheduler.step()));
  return promise
}

export function waitFor({ scheduler }: World, ms: number): Promise<void> {
  return new Promise((resolve) => void scheduler.after(ms, resolve))
}

/** Returns at once if the time has passed. */
export function waitUntil(world: World, ms: number): Promise<void> {
  return waitFor(world, ms - world.scheduler.nowMs())
}

/** A process, and the unfinished processes of its environment that continue under its name. */
export function namesOf(
  world: Pick<World, 'sharing'>,
  process: Process | undefined,
): readonly Process[] {
  return process === undefined ? [] : [process, ...namesOf(world, world.sharing.get(process))]
}

export function actingAs<Answer>(world: World, process: Process, effect: () => Answer) {
  return () => {
    world.acting = process
    try {
      return effect()
    } finally {
      world.acting = undefined
    }
  }
}
