import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { createSimulatorCore } from '../../../infra/local/provider-simulator/simulator-core.ts'
import type { Alert } from '../../../shared/deps.ts'
import { byQueue, type QueueName } from '../../../shared/queues.ts'
import { callbackSecretName, providerSecretName, type SealedFor } from '../../../shared/secrets.ts'
import type { HistorySteps, ProviderFees } from '../../../shared/stage-settings.ts'
import type { Environment, LoadedFunction } from './environments.ts'
import { type Faults, NO_FAULTS } from './faults.ts'
import { createListeners } from './listeners.ts'
import { createMerchants } from './merchants.ts'
import { createPrng } from './prng.ts'
import type { Process } from './process.ts'
import { createScheduler } from './scheduler.ts'
import { createSimQueue, QUEUE_TIMES } from './sim-queue.ts'

export const SIM_STAGE = 'sim'
export const PROVIDER_KEY = 'xnd_development_simulation'
export const CALLBACK_TOKEN = 'simulation-callback-token'
const START_MS = Date.UTC(2026, 10, 2, 3, 0, 0)

/** What the provider gives at most. */
export const MOST_ROWS_A_PAGE = 50

export type WorldOptions = {
  readonly seed: number
  readonly functions: ReadonlyMap<string, LoadedFunction>
  readonly tracing?: boolean
  readonly providerFees?: ProviderFees
  /** So small, by default, that most of what is read in steps takes several. */
  readonly historySteps?: HistorySteps
  /** How many rows of the provider's a page has at most; so few, in some histories, that most lists have several pages. */
  readonly rowsAPage?: number
}

export type World = ReturnType<typeof createWorld>

/** Until when, and what others may do while a write is delayed. */
type Contest = { readonly untilMs: number; readonly rival?: () => unknown }
export type Impairment = { readonly lost: number; readonly delayMs: number }

type SendCallback = (body: string, headers: Readonly<Record<string, string>>) => Promise<number>

/** The world around the handlers: storage, queues, provider, merchants and time, all drawn from one seed. */
export const createWorld = ({
  seed,
  functions,
  tracing = false,
  providerFees = 'deducted',
  historySteps = { rows: 2, pages: 2, block: 3 },
  rowsAPage = seed % 4 < 2 && seed % 3 !== 0 ? 4 : MOST_ROWS_A_PAGE,
}: WorldOptions) => {
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
    provider.orderFault({ target: 'transactions', fault: 'fee_invoiced', times: Number.MAX_SAFE_INTEGER })
  }
  /** The listeners of this world, and its faults. */
  const border = {
    faults: NO_FAULTS,
    ...createListeners(),
    /** The running process of each unfinished one in the same environment: its calls count for the running one. */
    sharing: new WeakMap<Process, Process>(),
    /** The process whose call to table or provider takes effect now. */
    acting: undefined as Process | undefined,
    /** Told of a callback the provider sends; answers the HTTP status, or rejects. */
    sendCallback: ((): Promise<number> =>
      Promise.reject(new Error('no gateway listens for callbacks yet'))) as SendCallback,
  }
  const table = createMemoryTable({
    onChange: (change) => {
      for (const listen of border.onChange) listen(change)
    },
    onWritten: (changes) => {
      for (const listen of border.onWritten) listen(changes)
    },
    onRefused: (step, was) => {
      for (const listen of border.onRefused) listen(step, was)
    },
  })
  return Object.assign(border, {
    prng,
    /** Its own random numbers for rows beside payments, so that those rows change nothing else of a seed. */
    oddities: createPrng(~seed),
    /** Separate rows by which the provider took money back or returned it, and money that belongs to no payment. */
    bookedBack: [] as string[],
    /** The payment of the last reversal, until the sync reads again. */
    unreadBack: undefined as string | undefined,
    providerFees,
    /** The quota of background work: the provider's published one, or one that is too small. */
    callsPerMinute: [600, 60, 12, 6][seed % 4] ?? 600,
    rowsAPage,
    /** How long the provider takes for a call; drawn when not given. */
    providerMs: undefined as number | undefined,
    /** Until when writes to an item are not answered, by its partition: some are applied, and some are not. */
    unansweredUntilMs: new Map<string, number>(),
    /** Items that other writers hold, by their partition: writes to them are delayed. */
    contested: new Map<string, Contest>(),
    /** How many of the next transactions on an item get no answer, by its partition, and how long they wait. */
    impaired: new Map<string, Impairment>(),
    /** Until when the provider does not show a payment that it has announced. */
    unseenUntilMs: new Map<string, number>(),
    /** How long creates of a payment, cancels of a request or reads of a path take: done at once, and answered late. */
    slowCallsMs: new Map<string, number>(),
    /** Until when an item cannot be read by itself, by its partition: it is asked for too often. */
    unreadUntilMs: new Map<string, number>(),
    /** Until then nothing can be told to the operators. */
    topicDownUntilMs: 0,
    /** What the provider has counted lately, by operation; and what its requests were before they last changed, by path. */
    providerCalls: new Map<string, number[]>(),
    formerRequests: new Map<string, unknown>(),
    /** Payments whose row the provider never shows. */
    unshownRows: new Set<string>(),
    /** What the provider does not answer about, by payment, request or fee, until when, and what it says instead. */
    withheld: new Map<string, { readonly untilMs: number; readonly says: 'nothing' | 'not found' | 'too often' }>(),
    /** Findings that the provider's rows beside a payment's own must lead to, where it is that payment's money. */
    conflictingRows: [] as { readonly providerPaymentId: string; readonly cause: string }[],
    /** When a process has read a list last. */
    listedMs: new WeakMap<Process, number>(),
    historySteps,
    scheduler,
    functions,
    table,
    queues: byQueue((name) => createSimQueue(QUEUE_TIMES[name])),
    provider,
    merchants: createMerchants(prng.fork(), (fault) => count(tally, `fault ${fault}`)),
    /** Endpoints that were asked for, of each client. */
    registrations: new Map<string, number>(),
    /** What reached the operators. */
    alerts: [] as (Alert & { readonly atMs: number })[],
    logLines: [] as string[],
    secrets: new Map([
      [providerSecretName(SIM_STAGE), JSON.stringify({ secret_key: PROVIDER_KEY })],
      [callbackSecretName(SIM_STAGE), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] })],
    ]),
    /** What was sealed, and for whom, by the sealed text. */
    seals: new Map<string, { readonly secret: string } & SealedFor>(),
    tally,
    /** Troubles that last, by what they are. */
    stretches: new Map<string, Stretch>(),
    /** What happened, in words, when a trace is wanted. */
    story: [] as string[],
    tracing,
    /** Queues without a consumer, so that a test can take their messages itself. */
    paused: new Set<QueueName>(),
    /** Warm environments of each function that wait, frozen, for its next invocation. */
    idle: new Map<LoadedFunction, Environment[]>(),
  })
}

/** Adds a line to the story, with simulated time; free when nothing is traced. */
export const trace = (world: World, line: () => string): void => {
  if (!world.tracing) return
  world.story.push(`${new Date(world.scheduler.nowMs()).toISOString()} ${line()}`)
}

/** Counts a fault that has struck, and tells of it. */
export const struck = (world: World, fault: keyof Faults): void => {
  count(world.tally, `fault ${fault}`)
  for (const listen of world.onFault) listen(fault)
  trace(world, () => `  ! ${fault}`)
}

/** Draws whether a fault strikes, and counts it when it does. */
export const strikes = (world: World, fault: keyof Faults): boolean => {
  if (!world.prng.chance(world.faults[fault])) return false
  struck(world, fault)
  return true
}

/** The same, but a history without the fault draws nothing for it: new faults move nothing where there are none. */
export const isHit = (world: World, fault: keyof Faults): boolean => world.faults[fault] > 0 && strikes(world, fault)

/** How late something is, of so much at worst. */
export const lag = ({ prng }: World, worstMs: number): number => (worstMs > 0 ? prng.int(0, Math.floor(worstMs)) : 1)

/** Whether a lasting fault is on, and until when. */
type Stretch = { readonly isOn: boolean; readonly untilMs: number }

type StretchTimes = { readonly leastMs: number; readonly mostMs: number }

/** Whether a lasting fault is on; drawn again when its time is over. `probability`: of the fault. */
export const inStretch = (world: World, what: string, probability: number, { leastMs, mostMs }: StretchTimes) => {
  if (probability === 0) return false
  const nowMs = world.scheduler.nowMs()
  const known = world.stretches.get(what)
  if (known && nowMs < known.untilMs) return known.isOn
  const isOn = world.prng.chance(probability)
  world.stretches.set(what, { isOn, untilMs: nowMs + world.prng.int(leastMs, mostMs) })
  if (isOn) trace(world, () => `  ! ${what}`)
  if (isOn) count(world.tally, `stretch: ${what}`)
  return isOn
}

export const QUEUES_DOWN = 'queues down'
const DOWN_TIMES = { leastMs: 60_000, mostMs: 3_600_000 }

/** Until when no queue can be reached; 0 while they can. */
export const queuesDownUntilMs = (world: World): number =>
  inStretch(world, QUEUES_DOWN, world.faults.queuesDown, DOWN_TIMES)
    ? (world.stretches.get(QUEUES_DOWN)?.untilMs ?? 0)
    : 0

/** How often each thing happened in a history; the figures of the reliability report. */
export type Tally = Map<string, number>

export const count = (tally: Tally, what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1)

export const addTally = (into: Tally, from: Tally): void => {
  for (const [what, times] of from) into.set(what, (into.get(what) ?? 0) + times)
}

/** Adds to the set of a key, which is made for its first value. */
export const addTo = <Key, Value>(
  sets: { get(key: Key): Set<Value> | undefined; set(key: Key, values: Set<Value>): unknown },
  key: Key,
  value: Value,
): void => void sets.set(key, (sets.get(key) ?? new Set()).add(value))

/** Moves the world until a promise of it is settled, and answers what it came to. */
export const drive = async <T>(world: World, promise: Promise<T>): Promise<T> => {
  const progress = { settled: false }
  const end = () => {
    progress.settled = true
  }
  promise.then(end, end)
  while (!progress.settled && (await world.scheduler.step()));
  return promise
}

/** Resolves when so much simulated time is over. */
export const passed = ({ scheduler }: World, ms: number): Promise<void> =>
  new Promise((resolve) => void scheduler.after(ms, resolve))

/** The same up to a time; at once where it is over. */
export const passedUntil = (world: World, ms: number): Promise<void> => passed(world, ms - world.scheduler.nowMs())
