import type { SQSBatchResponse } from 'aws-lambda'
import { DAILY_TIMES } from '../../../functions/daily-times.ts'
import { type QueueSource, queuesOf, type ScheduleSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { text } from '../../support/recount/books.ts'
import { invoke } from './lambda.ts'
import { type Disorder, type ReceivedMessage, sqsEvent } from './sim-queue.ts'
import { count } from './tally.ts'
import { hasFault, lag, queuesDownUntilMs, type World, waitFor } from './world.ts'

const QUEUE_CONSUMERS = 5

export function connectSources(world: World) {
  connectIndexes(world)
  connectExpiry(world)
  for (const { name, trigger } of MANIFEST)
    for (const source of queuesOf(trigger)) connectQueue(world, name, source)
  connectSchedules(world)
}

/** Indexes show a change later than the table. The changes of one item arrive in order. */
function connectIndexes(world: World) {
  const lastMs = new Map<string, number>()
  world.onChange.push((change) => {
    const item = `${change.key.pk} ${change.key.sk}`
    const atMs = Math.max(
      world.scheduler.nowMs() + lag(world, world.faults.indexLagMs),
      lastMs.get(item) ?? 0,
    )
    lastMs.set(item, atMs)
    if (atMs - world.scheduler.nowMs() > 1_000) count(world.tally, 'fault indexLagMs')
    world.scheduler.at(atMs, () => world.table.applyToIndexes(change))
  })
}

/** DynamoDB deletes what has expired, up to two days late. */
function connectExpiry(world: World) {
  world.onChange.push(({ key, after }) => {
    const expiresSeconds = after?.[TABLE_SCHEMA.ttl]
    if (typeof expiresSeconds !== 'number') return
    const lateMs = world.prng.int(0, 2 * 24 * 3_600_000)
    world.scheduler.at(expiresSeconds * 1_000 + lateMs, () => {
      const [ttl, now] = [
        Number(world.table.item(key)?.[TABLE_SCHEMA.ttl]),
        world.scheduler.nowMs(),
      ]
      if (!(ttl * 1_000 <= now)) return
      count(world.tally, 'expired item deleted')
      world.table.requests.write(remove(key, exists))
    })
  })
}

function connectQueue(
  world: World,
  name: string,
  { queue, batchSize, maxConcurrency }: QueueSource,
) {
  const consumers = Math.min(QUEUE_CONSUMERS, maxConcurrency)
  const source = world.queues[queue]
  let busy = 0
  let cancel: (() => void) | undefined
  const onDisorder: Disorder['onDisorder'] = (what) =>
    count(world.tally, what === 'reorder' ? 'fault queueReordered' : 'fault queueTwice')

  const poll = () => {
    cancel?.()
    cancel = undefined
    if (world.paused.has(queue)) return
    const nowMs = world.scheduler.nowMs()
    const downUntilMs = queuesDownUntilMs(world)
    if (downUntilMs > nowMs) {
      cancel = world.scheduler.at(downUntilMs, poll)
      return
    }
    while (busy < consumers) {
      const { queueReordered: reorder, queueTwice: duplicate } = world.faults
      const disorder = { random: world.prng.next, reorder, duplicate, onDisorder }
      const messages = source.receive({ max: batchSize, nowMs, disorder })
      if (messages.length === 0) break
      busy++
      void consume(messages)
    }
    const dueMs = source.nextDueMs()
    if (dueMs !== undefined && busy < consumers)
      cancel = world.scheduler.at(Math.max(dueMs, nowMs + 1), poll)
  }

  const consume = async (messages: readonly ReceivedMessage[]) => {
    for (const listen of world.onHandedOut) listen(queue, messages)
    const run = await invoke(world, name, sqsEvent(messages))
    busy--
    const result = run.kind === 'done' ? (run.result as SQSBatchResponse) : undefined
    const failed = result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
    // A message that cannot be deleted is received again.
    const isDown = queuesDownUntilMs(world) > world.scheduler.nowMs()
    for (const { messageId, receipt } of messages)
      if (!isDown && failed?.includes(messageId) === false) source.remove(receipt)
    poll()
  }

  world.onSent.push((sentTo) => sentTo === queue && world.scheduler.after(1, poll))
}

function connectSchedules(world: World) {
  const hasSyncWork = watchSync(world)
  for (const { name, trigger } of MANIFEST) {
    if (trigger.kind !== 'schedule') continue
    const { schedule } = trigger
    if (name === 'check-due-work') {
      connectDueWork(world, name, schedule)
      continue
    }
    const fire = () => {
      if (name !== 'sync-provider-transactions' || hasSyncWork())
        void runSoon(world, name, schedule)
    }
    const tick = () => {
      fireAround(world, fire)
      world.scheduler.at(nextFiring(schedule, world.scheduler.nowMs() + 1), tick)
    }
    world.scheduler.at(nextFiring(schedule, world.scheduler.nowMs() + 1), tick)
  }
}

/**
 * Whether the sync has work: a row that was booked or updated after its head, a due job, or the
 * daily passes.
 */
function watchSync(world: World) {
  const earliest = trackDue(world, (work) => work === 'sync')
  return () => {
    if (earliest() <= world.scheduler.nowMs()) return true
    const head = world.table.item(syncJobKey('head')) ?? {}
    if (Date.parse(text(head, 'reversals_at')) <= world.scheduler.nowMs()) return true
    const position = text(head, 'position')
    // A reversed row is updated, but keeps its place before newer rows.
    return world.provider
      .transactionRecords()
      .some(({ missing, row }) => !missing && row.updated >= position)
  }
}

/**
 * Returns a function that answers when the first of some due work is due. Every change of an item
 * updates it.
 */
function trackDue(
  world: World,
  isMeant: (work: unknown) => boolean,
  onDue: (dueMs: number) => void = () => undefined,
) {
  const dueMs = new Map<string, number>()
  world.onChange.push(({ key, after }) => {
    const item = `${key.pk} ${key.sk}`
    const due = after?.['due_at']
    if (typeof due !== 'string' || !isMeant(after?.['work'])) return void dueMs.delete(item)
    dueMs.set(item, Date.parse(due))
    onDue(Date.parse(due))
  })
  return () => Math.min(...dueMs.values())
}

/**
 * Every minute, one run at a time. Minutes in which nothing is due are skipped, because their runs
 * change nothing.
 */
function connectDueWork(world: World, name: string, schedule: ScheduleSpec) {
  let running = false
  let armed: { readonly atMs: number; readonly cancel: () => void } | undefined

  const fire = () => {
    if (running) return
    running = true
    void invoke(world, name, {}).then(() => {
      running = false
      arm()
    })
  }
  const tick = () => {
    armed = undefined
    if (earliest() <= world.scheduler.nowMs()) fireAround(world, fire)
    arm()
  }
  const arm = (due = earliest()) => {
    if (due === Number.POSITIVE_INFINITY) return
    const atMs = nextFiring(schedule, Math.max(due, world.scheduler.nowMs() + 1))
    if (armed && armed.atMs <= atMs) return
    armed?.cancel()
    armed = { atMs, cancel: world.scheduler.at(atMs, tick) }
  }
  // Work that falls due before the next run makes it earlier.
  const earliest = trackDue(
    world,
    (work) => work !== undefined && work !== 'payout' && work !== 'sync',
    arm,
  )
}

/** EventBridge: on time, twice or not at all. */
function fireAround(world: World, fire: () => void) {
  if (hasFault(world, 'scheduleMissed')) return
  fire()
  if (hasFault(world, 'scheduleTwice')) world.scheduler.after(world.prng.int(1, 5_000), fire)
}

function nextFiring(schedule: ScheduleSpec, notBeforeMs: number) {
  const everyMs = 'everyMinutes' in schedule ? schedule.everyMinutes * MINUTE_MS : DAY_MS
  const daily = 'dailyAt' in schedule ? DAILY_TIMES[schedule.dailyAt] : { hour: 0, minute: 0 }
  const offsetMs = (daily.hour * 60 + daily.minute) * MINUTE_MS
  return Math.ceil((notBeforeMs - offsetMs) / everyMs) * everyMs + offsetMs
}

/** A throttled run is retried until its event is too old. A failed run is not retried. */
async function runSoon(world: World, name: string, { maxEventAgeSeconds }: ScheduleSpec) {
  const { nowMs } = world.scheduler
  const endsMs = nowMs() + maxEventAgeSeconds * 1_000
  for (let pauseMs = 1_000; nowMs() <= endsMs; pauseMs = Math.min(2 * pauseMs, 5 * MINUTE_MS)) {
    const { kind } = await invoke(world, name, {})
    if (kind !== 'throttled') return
    await waitFor(world, pauseMs)
  }
  count(world.tally, 'schedule dropped: no concurrency left')
}
