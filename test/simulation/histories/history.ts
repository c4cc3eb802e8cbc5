import { createHash } from 'node:crypto'
import type { RawItem } from '../../support/recount/books.ts'
import { problemsAtRest, problemsOf } from '../../support/recount/invariants.ts'
import { FOUND_MS, rowProblems } from '../promises/booked-rows.ts'
import { watchPromises } from '../promises/watch-promises.ts'
import { complain } from '../scenes/complain.ts'
import { arrangeConcurrentOperators, concurrentOperators } from '../scenes/concurrent-operators.ts'
import { freezeWorkers } from '../scenes/freeze-workers.ts'
import { payOut, payOutAssumed } from '../scenes/money-operations.ts'
import { reverseRandomPayment } from '../scenes/odd-rows.ts'
import { requestOtherTenantsData } from '../scenes/other-tenants.ts'
import { payInBatches } from '../scenes/pay-in-batches.ts'
import { arrangeRounds, breakAlertTopic } from '../scenes/redeliveries.ts'
import { sellMany } from '../scenes/sell-many.ts'
import { watchSituations } from '../sometimes/situations.ts'
import { createObservations } from '../watching/observations.ts'
import { readBackProblems } from '../watching/read-back.ts'
import { watchRows } from '../watching/watch-rows.ts'
import { watchAlerts } from '../watching/watch-webhooks.ts'
import { drawFaults, NO_FAULTS } from '../world/faults.ts'
import { connectCallbacks, type HttpRequest, requestAs } from '../world/lambda.ts'
import { addTenant, type Tenant } from '../world/tenants.ts'
import { connectSources } from '../world/triggers.ts'
import { createWorld, runUntil, type World, type WorldOptions } from '../world/world.ts'
import { agedProblems, booksProblems, isAged, seenBy } from './books-at-rest.ts'
import { drawOperation, settle } from './operations.ts'
import type { Play } from './play.ts'
import { arrangeRaces, changeDuringWrites, repeatDuringWrites } from './races.ts'

export type HistoryOptions = {
  readonly seed: number
  readonly operations?: number | undefined
  readonly tracing?: boolean
  readonly began?: (play: Play) => void
}

export type HistoryResult = Awaited<ReturnType<typeof runHistory>>

const USUAL_OPERATIONS = 36
/** A few long histories meet what grows: lists, windows, and sums that are read in steps. */
const LONG_OPERATIONS = 180
const LONG_EVERY = 25

export function operationsOf(seed: number) {
  return seed % LONG_EVERY === 0 ? LONG_OPERATIONS : USUAL_OPERATIONS
}

export async function startPlay(options: WorldOptions) {
  const world = createWorld(options)
  connectSources(world)
  connectCallbacks(world)
  const seen = createObservations()
  watchRows(world)
  watchSituations(world)
  const restProblems = [watchPromises(world), watchAlerts(world)]
  const tenants: Tenant[] = []
  for (const number of [0, 1])
    tenants.push(await runUntil(world, addTenant(world, number, number + 1)))
  return {
    ...world,
    world,
    tenants,
    seen,
    unanswered: [],
    created: new Map(),
    keys: 0,
    restProblems,
  }
}

const HOUR_MS = 3_600_000
/** After the faults stop, all work must end within this simulated time. */
const REST_MS = 8 * 24 * HOUR_MS

export async function rest(play: Play) {
  const { world, tenants } = play
  world.faults = NO_FAULTS
  world.provider.clearFaults()
  await world.scheduler.runFor(FOUND_MS)
  const lostRows = rowProblems(world)
  await world.scheduler.runFor(REST_MS - FOUND_MS)
  await runUntil(world, payOutAssumed(play))
  await world.scheduler.runFor(HOUR_MS)
  const problems = [
    ...lostRows,
    ...rowProblems(world),
    ...world.problems,
    ...problemsAtRest(world.table.items(), seenBy(play)),
    ...play.restProblems.flatMap((check) => check()),
  ]
  // Faults must leave no difference in the books, so no daily audit may find one.
  if (world.logLines.some((line) => line.includes('audit.imbalance')))
    problems.push('an audit found an imbalance')
  problems.push(...(await booksProblems(play)))
  for (const tenant of tenants)
    problems.push(
      ...(await readBackProblems(world.table.items(), tenant, pacedRequests(world, tenant))),
    )
  return problems
}

/**
 * At one request a second, more tries than the largest clock difference of twenty seconds needs.
 */
const MAX_TRIES = 24

/** A slow clock may count earlier requests, so a 429 is retried. */
function pacedRequests(world: World, tenant: Tenant) {
  return async (functionName: string, asked: HttpRequest = {}) => {
    for (let tries = 1; ; tries++) {
      await world.scheduler.runFor(1_000)
      const reply = await runUntil(world, requestAs(world, tenant, functionName, asked))
      if (reply?.status !== 429 || tries === MAX_TRIES) return reply
    }
  }
}

/**
 * The times before the next operation: mostly seconds, sometimes hours, so that deadlines are kept
 * and missed.
 */
const GAPS_MS = [10, 300, 2_000, 20_000, 120_000, 1_800_000, 6 * HOUR_MS]

/**
 * Scenes that make rare situations frequent. Their order matters, because all use one random
 * generator.
 */
const ARRANGEMENTS = [
  arrangeRaces,
  arrangeRounds,
  breakAlertTopic,
  freezeWorkers,
  arrangeConcurrentOperators,
]

/** The same seed and number of operations give the same history, byte for byte. */
export async function runHistory(options: HistoryOptions) {
  const { seed, operations = operationsOf(seed) } = options
  // In every third history the provider bills its fees after the month.
  const providerFees = seed % 3 === 0 ? 'invoiced' : 'deducted'
  const play = await startPlay({ ...options, providerFees })
  options.began?.(play)
  const { world } = play
  const faults = drawFaults(world.prng.fork())
  const happens = (probability: number) =>
    world.faults === faults && world.scenePrng.chance(probability)
  for (const arrange of ARRANGEMENTS) arrange(play, happens)
  repeatDuringWrites(play)
  changeDuringWrites(play)
  world.faults = faults
  world.apartMs = 2 * Math.ceil(faults.clockSkewMs)
  const problems: string[] = []
  // The first customers of the second merchant pay at once.
  const newest = play.tenants.at(-1)
  if (newest) void sellMany(play, newest, true)
  await world.scheduler.runFor(world.scenePrng.int(0, 60_000))
  for (let number = 0; number < operations && problems.length === 0; number++) {
    const operation = drawOperation(world)
    operation(play).catch((error: unknown) => problems.push(`an operation threw: ${String(error)}`))
    reverseRandomPayment(world, 0.12)
    await world.scheduler.runFor(world.prng.pick(GAPS_MS) * (0.5 + world.prng.next()))
    problems.push(...play.world.problems, ...problemsOf(world.table.items(), seenBy(play)))
  }
  if (problems.length === 0) problems.push(...(await daysWithoutPayments(play)))
  if (problems.length === 0) problems.push(...(await rest(play)))
  if (problems.length === 0 && isAged(seed)) problems.push(...(await agedProblems(play)))
  return {
    seed,
    problems,
    steps: world.scheduler.steps(),
    tally: world.tally,
    story: world.story,
    digest: digestOf(world.table.items(), play),
  }
}

/**
 * Days without new payments: operators settle, pay out and record refused transfers, and the
 * provider reverses.
 */
const STEPS_WITHOUT_PAYMENTS = 6

async function daysWithoutPayments(play: Play) {
  const { world } = play
  const problems: string[] = []
  const note = (error: unknown) => problems.push(`an operation threw: ${String(error)}`)
  complain(play).catch(note)
  for (let step = 0; step < STEPS_WITHOUT_PAYMENTS && problems.length === 0; step++) {
    reverseRandomPayment(world, 0.4)
    const operation = world.scenePrng.pick([
      settle,
      payOut,
      payOut,
      payInBatches,
      concurrentOperators,
      concurrentOperators,
      requestOtherTenantsData,
    ])
    operation(play).catch(note)
    await world.scheduler.runFor(world.scenePrng.int(1, 20) * HOUR_MS)
    problems.push(...world.problems, ...problemsOf(world.table.items(), seenBy(play)))
  }
  return problems
}

/** Equal histories have equal digests. */
function digestOf(items: readonly RawItem[], play: Play) {
  return createHash('sha256')
    .update(
      JSON.stringify(items, (_, value: unknown) =>
        value instanceof Set
          ? [...value].map(String).toSorted((a, b) => a.localeCompare(b))
          : value,
      ),
    )
    .update(JSON.stringify(play.world.merchants.received))
    .update(play.world.logLines.join('\n'))
    .digest('hex')
}
