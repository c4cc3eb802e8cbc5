import type { DynamoDBBatchResponse } from 'aws-lambda'
import { MANIFEST } from '../../../functions/manifest.ts'
import { isInsertOf, streamEvent, streamRecord } from '../../../infra/local/emulators/memory-table/stream-record.ts'
import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { STREAM_SETTINGS } from '../../../infra/stack/triggers/stream-settings.ts'
import { type Invocation, type InvokeOptions, invoke } from '../world/lambda.ts'
import { inStretch } from '../world/stretch.ts'
import { count } from '../world/tally.ts'
import { isHit, lag, strikes, struck, tell, type World } from '../world/world.ts'

type Waiting = { readonly change: TableChange; readonly bornMs: number; readonly poison: boolean }
type Batch = { readonly records: readonly Waiting[]; readonly retries: number }

/** Lambda works on one batch of each at a time: records of one partition key are always in the same. */
type Lane = { readonly waiting: Waiting[]; busy: boolean; readyMs: number }

/** Few, so that batches have more than one record. */
const LANES = 2
const STOPPED_TIMES = { leastMs: 60_000, mostMs: 2 * 3_600_000 }
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** In so many awaits of a record, or of one before it in its batch, whoever is given the poison dies. */
const DEADLY_AWAITS = 3

const THROTTLED = { kind: 'throttled' } as const

const laneOf = (pk: string): number => Buffer.from(pk).reduce((sum, byte) => sum + byte, 0) % LANES

const bornBefore = (world: World, { bornMs }: Waiting): boolean =>
  world.scheduler.nowMs() - bornMs > STREAM_SETTINGS.recordAgeSeconds * 1_000

/** What Lambda gives up it names in the queue of dead records, and goes on behind it. */
const giveUp = (world: World, why: string, records: readonly Waiting[]): void => {
  for (const { change } of records) {
    count(world.tally, `stream gave up: ${why}`)
    world.deadStreamRecords.push(change.sequence)
    tell(world, () => `the stream gives ${change.key.pk} ${change.key.sk} up: ${why}`)
  }
}

const deadly = (world: World, records: readonly Waiting[]): InvokeOptions => {
  if (!records.some(({ poison }) => poison)) return {}
  const at = world.prng.int(1, DEADLY_AWAITS * records.length)
  return { crashAt: { await: at, side: world.prng.pick(['before', 'after']) } }
}

/** Which record Lambda goes on with: the lowest that was named, the first where the run failed; none when all is done. */
const failedAt = (run: Invocation, records: readonly Waiting[]): number => {
  if (run.kind !== 'done') return 0
  const { batchItemFailures } = run.result as DynamoDBBatchResponse
  const named = batchItemFailures.map(({ itemIdentifier }) =>
    records.findIndex(({ change }) => streamRecord(change).dynamodb?.SequenceNumber === itemIdentifier),
  )
  return named.length === 0 ? records.length : Math.max(0, Math.min(...named))
}

/** What is tried next of a batch that failed. Splitting counts as no retry, as AWS says. */
const nextBatches = (world: World, { records, retries }: Batch, at: number): readonly Batch[] => {
  const left = records.slice(at)
  if (at > 0 && left.length > 0) {
    count(world.tally, 'stream batch: went on in the middle')
    return [{ records: left, retries }]
  }
  if (left.length > 1) {
    count(world.tally, 'stream batch: split')
    const middle = Math.ceil(left.length / 2)
    return [
      { records: left.slice(0, middle), retries },
      { records: left.slice(middle), retries },
    ]
  }
  if (left.length === 0) return []
  if (retries < STREAM_SETTINGS.retries) return [{ records: left, retries: retries + 1 }]
  giveUp(world, 'too often', left)
  return []
}

/**
 * Works on what waits in a lane until nothing does: a batch that fails is split, one record is tried again, whatever is
 * too old is given up, and all behind it waits.
 */
const work = async (world: World, name: string, batchSize: number, lane: Lane): Promise<void> => {
  const batches: Batch[] = []
  for (let failures = 0; batches.length > 0 || lane.waiting.length > 0; ) {
    const batch = batches.shift() ?? { records: lane.waiting.splice(0, batchSize), retries: 0 }
    const old = batch.records.filter((record) => bornBefore(world, record))
    const records = batch.records.filter((record) => !old.includes(record))
    giveUp(world, 'too old', old)
    if (records.length === 0) continue
    if (records.length > 1) count(world.tally, 'stream batch of several')
    const changes = records.map(({ change }) => change)
    const isStopped = inStretch(world, 'stream stopped', world.faults.streamStopped, STOPPED_TIMES)
    if (isStopped) struck(world, 'streamStopped')
    const run = isStopped ? THROTTLED : await invoke(world, name, streamEvent(changes), deadly(world, records))
    const at = failedAt(run, records)
    // What was throttled is tried until it is too old.
    if (run.kind === 'throttled') batches.unshift({ ...batch, records })
    else batches.unshift(...nextBatches(world, { ...batch, records }, at))
    failures = at === records.length ? 0 : failures + 1
    if (failures === 0) continue
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
    await new Promise<void>((resolve) => void world.scheduler.after(pauseMs, resolve))
  }
}

/** Lambda's reader of the table's stream, by the settings of the stack. */
export const connectStream = (world: World): void => {
  for (const { name, trigger } of MANIFEST) {
    if (trigger.kind !== 'stream') continue
    const lanes = Array.from({ length: LANES }, (): Lane => ({ waiting: [], busy: false, readyMs: 0 }))
    const begin = async (lane: Lane) => {
      if (lane.busy) return
      lane.busy = true
      await work(world, name, trigger.batchSize, lane)
      lane.busy = false
    }
    const arrive = (change: TableChange, poison: boolean) => {
      const lane = lanes[laneOf(change.key.pk)]
      if (!lane) throw new Error('no lane')
      const bornMs = world.scheduler.nowMs()
      // In the order in which they were written.
      lane.readyMs = Math.max(lane.readyMs, bornMs + lag(world, world.faults.streamLagMs))
      world.scheduler.at(lane.readyMs, () => {
        lane.waiting.push({ change, bornMs, poison })
        void begin(lane)
      })
    }
    world.onChange.push((change) => {
      if (!isInsertOf(change, trigger.insertedSkPrefix)) return
      if (strikes(world, 'streamLost')) return
      const times = strikes(world, 'streamTwice') ? 2 : 1
      const poison = isHit(world, 'streamPoison')
      for (let time = 0; time < times; time++) arrive(change, poison)
    })
  }
}
