import type { DynamoDBRecord } from 'aws-lambda'
import * as v from 'valibot'
import { chunks } from '../../../shared/chunks.ts'
import { slotOf } from '../../../shared/ids.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import type { ChangeStream } from '../emulators/local-table.ts'
import { pause } from '../process/pause.ts'

export type StreamPollerOptions = {
  readonly stream: ChangeStream
  readonly wanted: (record: DynamoDBRecord) => boolean
  readonly batchSize: number
  readonly invoke: (event: { readonly Records: readonly DynamoDBRecord[] }) => Promise<unknown>
}

export type StreamPoller = { close(): Promise<void> }

const IDLE_WAIT_MS = 100
const BROKEN_WAIT_MS = 500
const TRIES_PER_RECORD = 3
/** The deployed reader works on as many batches of a shard at once. */
const LANES = 10

const Reply = v.object({ batchItemFailures: v.array(v.object({ itemIdentifier: v.string() })) })

/**
 * Does what Lambda's reader of a table's stream does. It hands on the records that it wants, at least once, in order for
 * each partition key. It tries a failed record again, then skips it. A crash repeats a page. A record may be lost all
 * the same: skipped, or trimmed while no gateway ran. The due work of the event rows finds its event.
 */
export const startStreamPoller = (options: StreamPollerOptions): StreamPoller => {
  const { stream, wanted } = options
  const closing = new AbortController()
  const handle = (records: readonly DynamoDBRecord[]) =>
    Promise.all(lanesOf(records.filter(wanted)).map((lane) => handleLane(options, lane)))

  const poll = async () => {
    while (!closing.signal.aborted) {
      try {
        if (!(await stream.read(handle))) await pause(IDLE_WAIT_MS, closing.signal)
      } catch {
        await pause(BROKEN_WAIT_MS, closing.signal)
      }
    }
  }
  const polling = poll()

  return {
    close: async () => {
      closing.abort()
      await polling
      stream.close()
    },
  }
}

/** Records of one partition key stay in one lane and thereby in order; the lanes run side by side, as on AWS. */
const lanesOf = (records: readonly DynamoDBRecord[]): DynamoDBRecord[][] => {
  const lanes: DynamoDBRecord[][] = Array.from({ length: LANES }, () => [])
  for (const record of records) {
    const partition = record.dynamodb?.Keys?.[TABLE_SCHEMA.partitionKey]?.S ?? ''
    lanes[slotOf(partition, LANES)]?.push(record)
  }
  return lanes
}

const handleLane = async (
  { invoke, batchSize }: Pick<StreamPollerOptions, 'invoke' | 'batchSize'>,
  lane: readonly DynamoDBRecord[],
): Promise<void> => {
  for (const batch of chunks(lane, batchSize)) await handleBatch(invoke, batch)
}

/** Hands the records to the function, from the failed one on again, until each succeeded or was tried often enough. */
const handleBatch = async (invoke: StreamPollerOptions['invoke'], batch: readonly DynamoDBRecord[]): Promise<void> => {
  let left = batch
  let tried = 0
  while (left.length > 0) {
    const failedAt = await firstFailure(invoke, left)
    if (failedAt === undefined) return
    tried = failedAt === 0 ? tried + 1 : 1
    const leaveBehind = tried >= TRIES_PER_RECORD
    left = left.slice(leaveBehind ? failedAt + 1 : failedAt)
    if (leaveBehind) tried = 0
  }
}

/** Index of the first record that was not handled; undefined when all were. */
const firstFailure = async (
  invoke: StreamPollerOptions['invoke'],
  records: readonly DynamoDBRecord[],
): Promise<number | undefined> => {
  try {
    const reply = v.safeParse(Reply, await invoke({ Records: records }))
    const failed = reply.success ? reply.output.batchItemFailures[0]?.itemIdentifier : undefined
    if (failed === undefined) return undefined
    // An identifier that names no record fails the whole batch, as on AWS.
    return Math.max(
      records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed),
      0,
    )
  } catch {
    return 0
  }
}

/** What the filter of a deployed reader lets through. */
export const insertedWith =
  (skPrefix: string): StreamPollerOptions['wanted'] =>
  ({ eventName, dynamodb }) =>
    eventName === 'INSERT' && dynamodb?.Keys?.[TABLE_SCHEMA.sortKey]?.S?.startsWith(skPrefix) === true
