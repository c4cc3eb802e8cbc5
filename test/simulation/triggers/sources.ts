import type { SQSBatchResponse } from 'aws-lambda'
import { type QueueSource, queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { invoke } from '../world/lambda.ts'
import type { Process } from '../world/process.ts'
import { type Disorder, type ReceivedMessage, sqsEvent } from '../world/sim-queue.ts'
import { count } from '../world/tally.ts'
import { lag, queuesDownUntilMs, tell, type World } from '../world/world.ts'
import { connectSchedules } from './schedules.ts'

const QUEUE_CONSUMERS = 5

/** Indexes follow the table late, each item in its own order. */
const connectIndexes = (world: World) => {
  const lastMs = new Map<string, number>()
  world.onChange.push((change) => {
    const item = `${change.key.pk} ${change.key.sk}`
    const atMs = Math.max(world.scheduler.nowMs() + lag(world, world.faults.indexLagMs), lastMs.get(item) ?? 0)
    lastMs.set(item, atMs)
    if (atMs - world.scheduler.nowMs() > 1_000) count(world.tally, 'fault indexLagMs')
    world.scheduler.at(atMs, () => world.table.applyToIndexes(change))
  })
}

/** One consumer of a queue: takes what is visible, runs the worker, deletes what succeeded. */
const connectQueue = (world: World, name: string, { queue, batchSize, maxConcurrency }: QueueSource) => {
  const consumers = Math.min(QUEUE_CONSUMERS, maxConcurrency)
  const source = world.queues[queue]
  let busy = 0
  let cancel: (() => void) | undefined

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
      const messages = source.receive({ max: batchSize, nowMs, disorder: disorderOf(world) })
      if (messages.length === 0) break
      busy++
      void consume(messages)
    }
    const dueMs = source.nextDueMs()
    if (dueMs !== undefined && busy < consumers) cancel = world.scheduler.at(Math.max(dueMs, nowMs + 1), poll)
  }

  const consume = async (messages: readonly ReceivedMessage[]) => {
    for (const listen of world.onHandedOut) listen(queue, messages)
    let worker: Process | undefined
    const run = await invoke(world, name, sqsEvent(messages), {
      onEnvironment: ({ process }) => {
        worker = process
      },
    })
    busy--
    const failed = run.kind === 'done' ? failedItems(run.result) : new Set(messages.map(({ messageId }) => messageId))
    if (run.kind === 'done' && worker) for (const listen of world.onHandedBack) listen(worker, messages, failed)
    // A message that cannot be deleted is received again.
    const isDown = queuesDownUntilMs(world) > world.scheduler.nowMs()
    for (const { messageId, receipt } of messages) if (!isDown && !failed.has(messageId)) source.remove(receipt)
    poll()
  }

  world.onSent.push((sentTo) => sentTo === queue && world.scheduler.after(1, poll))
}

const failedItems = (result: unknown): ReadonlySet<string> =>
  new Set((result as SQSBatchResponse).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))

const disorderOf = ({ prng, faults, tally }: World): Disorder => ({
  random: prng.next,
  reorder: faults.queueReordered,
  duplicate: faults.queueTwice,
  onDisorder: (what) => count(tally, what === 'reorder' ? 'fault queueReordered' : 'fault queueTwice'),
})

const connectQueues = (world: World) => {
  for (const { name, trigger } of MANIFEST) {
    for (const source of queuesOf(trigger)) connectQueue(world, name, source)
  }
}

/** DynamoDB deletes what has expired, up to two days late. */
const connectExpiry = (world: World) => {
  world.onChange.push(({ key, after }) => {
    const expiresSeconds = after?.[TABLE_SCHEMA.ttl]
    if (typeof expiresSeconds !== 'number') return
    const lateMs = world.prng.int(0, 2 * 24 * 3_600_000)
    world.scheduler.at(expiresSeconds * 1_000 + lateMs, () => {
      const [ttl, now] = [Number(world.table.item(key)?.[TABLE_SCHEMA.ttl]), world.scheduler.nowMs()]
      // Gone, or kept on since.
      if (!(ttl * 1_000 <= now)) return
      count(world.tally, 'expired item deleted')
      world.table.requests.write(remove(key, exists))
    })
  })
}

/** Everything that starts a function by itself. */
export const connectSources = (world: World): void => {
  connectIndexes(world)
  connectExpiry(world)
  connectQueues(world)
  connectSchedules(world)
  tell(world, () => 'the world is connected')
}
