import {
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { countedCarry } from '../../../infra/local/emulators/memory-table/memory-requests.ts'
import { isContention } from '../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { attributeName } from '../../../shared/table/attributes.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import type { Step } from '../../../shared/table/step.ts'
import type { QueryInput } from '../../../shared/table/table.ts'
import { type Process } from './process.ts'
import { count } from './tally.ts'
import { actingAs, hasFault, isFaultOn, noteFault, type World } from './world.ts'

/** DynamoDB recognises a repeated transaction by its token for this time. */
const TOKEN_MS = 10 * 60_000

/** Shorter and longer than another worker needs for the same work. */
const DELAYS_MS = [100, 1_000, 10_000]

const CONTESTED_MS = [20, 100, 500, 1_500, 4_000]

const metadata = { $metadata: {} }

type Applied = { readonly applied: boolean }

/** The adapter's retries, as deployed, are above these requests. */
export function faultyRequests(world: World, process: () => Process): TableRequests {
  const { requests } = world.table
  const send = countedCarry(world.table, <Answer>(name: string, run: () => Answer) => {
    const own = process()
    const effect = () => {
      if (hasFault(world, 'tableThrottled')) throw new Error('throttled at every try')
      const answer = run()
      // Only requests of the API take points for their units.
      if (own.name.startsWith('api-')) addUnits(world, own.name)
      return answer
    }
    return own.call(`table ${name}`, actingAs(world, own, effect))
  })
  const overtaken = async (steps: readonly Step[]) => {
    const own = process()
    const keys = steps.map(({ key }) => key)
    const { delay } = own
    const ails =
      steps.length > 1 &&
      keys.map(({ pk }) => world.impaired.get(pk)).find((one) => one !== undefined)
    if (ails && ails.delayMs > 0) await delay(ails.delayMs)
    const contest = keys.map(({ pk }) => world.contested.get(pk)).find((one) => one !== undefined)
    if (contest && contest.untilMs > world.scheduler.nowMs() && world.prng.chance(0.5)) {
      if (contest.rival && world.prng.chance(0.7)) void contest.rival()
      return delay(world.prng.pick(CONTESTED_MS))
    }
    // Most writes come from two functions. Writes of the others are overtaken more often.
    const times = /^(deliver-webhook|audit-client)$/.test(own.name) ? 1 : 3
    if (
      world.onOvertaken.length === 0 ||
      !Array.from({ length: times }).some(() => hasFault(world, 'overtaken'))
    )
      return
    for (const listen of world.onOvertaken) listen(own, keys)
    await delay(world.prng.pick(DELAYS_MS))
  }
  /** The answer to an applied write may be lost, and the SDK sends the same request again. */
  const sendTwice = async <Answer extends Applied>(
    name: 'write' | 'transact',
    steps: readonly Step[],
    run: () => Answer,
  ) => {
    await overtaken(steps)
    const sentMs = world.scheduler.nowMs()
    const once = () => {
      if (!meetsThrottledIndex(world, steps)) return run()
      const [message, CancellationReasons] = [
        'an index was throttled',
        [{ Code: 'ThrottlingError' }],
      ]
      if (name === 'write') throw new Error(message)
      throw new TransactionCanceledException({ message, CancellationReasons, ...metadata })
    }
    const first = await send(name, () => written(world, steps, once))
    if (!first.applied || !hasFault(world, 'tableRetried')) return first
    // Only a process that was frozen in between repeats a transaction so late that its token is
    // forgotten.
    const isKnown = () => name === 'transact' && world.scheduler.nowMs() - sentMs <= TOKEN_MS
    const second = await send(`${name}, again`, () => (isKnown() ? first : run()))
    if (!second.applied) count(world.tally, 'a retried write had been applied')
    return second
  }
  return {
    isContention,
    get: (key, some) => send('get', () => requests.get(key, some)),
    batchGet: (...asked) => send('batchGet', () => batch(world, ...asked)),
    query: (input) => {
      const own = process()
      return send('query', () => {
        if (String(input.partition[0]).startsWith('JOURNAL#'))
          world.listedMs.set(own, world.scheduler.nowMs())
        return page(world, input)
      })
    },
    write: (step) => sendTwice('write', [step], () => requests.write(step)),
    transact: (steps) => sendTwice('transact', steps, () => requests.transact(steps)),
  }
}

function meetsThrottledIndex(world: World, steps: readonly Step[]) {
  if (world.faults.indexThrottled === 0) return false
  const indexes = steps.flatMap((step) => {
    const touched = touchedBy(step)
    return Object.entries(TABLE_SCHEMA.indexes).filter(([, { partition, sort }]) =>
      [...partition, ...sort].some((attribute) => touched.has(attribute)),
    )
  })
  return [...new Set(indexes.map(([name]) => name))].some((index) => isThrottled(world, index))
}

function touchedBy(step: Step) {
  if (step.kind === 'put') return new Set(Object.keys(step.item))
  if (step.kind !== 'update') return new Set()
  const { set = {}, setIfAbsent = {}, remove = [] } = step.changes
  return new Set([...Object.keys(set), ...Object.keys(setIfAbsent), ...remove].map(attributeName))
}

/**
 * An index has its own throughput. When that is used up, reads of the index and writes that change
 * it are refused.
 */
function isThrottled(world: World, index: string) {
  if (!isFaultOn(world, `index ${index} throttled`, world.faults.indexThrottled, 5_000, 300_000))
    return false
  if (world.prng.chance(0.5)) return false
  noteFault(world, 'indexThrottled')
  return true
}

function written<Answer extends Applied>(world: World, steps: readonly Step[], run: () => Answer) {
  if (isLeftUnanswered(world, steps)) {
    if (world.prng.chance(0.5)) run()
    noteFault(world, 'tableAnswerLost')
    count(world.tally, 'sometimes: the table does not answer a write of a create')
    throw new Error('no answer at any try')
  }
  if (hasFault(world, 'tableConflict')) {
    throw new TransactionConflictException({
      message: 'another transaction is under way',
      ...metadata,
    })
  }
  const answer = run()
  if (answer.applied && hasFault(world, 'tableAnswerLost')) throw new Error('no answer at any try')
  return answer
}

function isLeftUnanswered({ impaired }: World, steps: readonly Step[]) {
  const pk =
    steps.length < 2 ? undefined : steps.map(({ key }) => key.pk).find((one) => impaired.has(one))
  const ails = impaired.get(pk ?? '')
  if (pk === undefined || ails === undefined) return false
  if (ails.lost > 1) impaired.set(pk, { ...ails, lost: ails.lost - 1 })
  else impaired.delete(pk)
  return true
}

function batch(world: World, ...[keys, ...how]: Parameters<TableRequests['batchGet']>) {
  if (keys.length < 2 || !hasFault(world, 'batchCut'))
    return world.table.requests.batchGet(keys, ...how)
  const taken = world.prng.int(1, keys.length - 1)
  return {
    ...world.table.requests.batchGet(keys.slice(0, taken), ...how),
    unprocessed: keys.slice(taken),
  }
}

/** DynamoDB may end a page early because a megabyte is full. */
function page(world: World, input: QueryInput) {
  if (input.index !== undefined && isThrottled(world, input.index))
    throw new Error('the index was throttled')
  const isCut =
    world.faults.pageCut > 0 && input.limit > 1 && world.prng.chance(world.faults.pageCut)
  const found = world.table.requests.query(
    isCut ? { ...input, limit: world.prng.int(1, input.limit - 1) } : input,
  )
  if (!isCut || !found.cursor) return found
  noteFault(world, 'pageCut')
  // A ledger is far below a megabyte, so no table ends its page early. Here the read fails instead.
  if (String(input.partition[0]).startsWith('LEDGER#'))
    throw new Error('the page of a ledger was not read')
  return found
}

function addUnits({ table, unitsUsed }: World, name: string) {
  unitsUsed.set(name, (unitsUsed.get(name) ?? 0) + table.lastUse().reported)
}
