import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams'
import * as v from 'valibot'
import { chunks } from '../../../shared/chunks.ts'
import { slotOf } from '../../../shared/ids.ts'
import { withoutLog } from '../../../shared/runtime/aws/without-log.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { localAws } from '../emulators/dynamodb-local.ts'
import { readJsonFile, writeJsonFile } from '../process/json-file.ts'
import { pause } from '../process/pause.ts'

export type StreamPollerOptions = {
  readonly endpoint: string
  readonly tableName: string
  readonly wanted: (record: StreamRecord) => boolean
  readonly batchSize: number
  readonly invoke: (event: { readonly Records: readonly LambdaRecord[] }) => Promise<unknown>
  /** Keeps the place in the stream across restarts. */
  readonly positionFile?: string
}

export type StreamPoller = { close(): Promise<void> }

const PAGE = 1_000
const IDLE_WAIT_MS = 100
const BROKEN_WAIT_MS = 500
const TRIES_PER_RECORD = 3
/** The deployed reader works on as many batches of a shard at once. */
const LANES = 10

const Positions = v.record(v.string(), v.string())
const Reply = v.object({ batchItemFailures: v.array(v.object({ itemIdentifier: v.string() })) })

/**
 * What Lambda's reader of a table's stream does: the records it wants, at least once, and in order for
 * each partition key. A failed record is tried again, then left behind, and the batch goes on behind it. The place is kept after each batch, so a
 * crash repeats a batch. Should records be lost all the same (left behind, or trimmed while nobody ran), the due work
 * of the event rows finds them: the stream only makes announcing fast.
 */
export const startStreamPoller = async (options: StreamPollerOptions): Promise<StreamPoller> => {
  const client = withoutLog(new DynamoDBStreamsClient({ ...localAws(options.endpoint), cacheMiddleware: true }))
  const { Streams: streams = [] } = await client.send(new ListStreamsCommand({ TableName: options.tableName }))
  const StreamArn = streams.at(-1)?.StreamArn
  const { positionFile } = options
  const positions = (positionFile !== undefined && readJsonFile(positionFile, Positions)) || {}
  const iterators = new Map<string, string>()
  const finished = new Set<string>()
  const closing = new AbortController()

  const openShards = async () => {
    const { StreamDescription: stream } = await client.send(new DescribeStreamCommand({ StreamArn }))
    const ids = (stream?.Shards ?? []).map(({ ShardId = '' }) => ShardId)
    for (const ShardId of ids) {
      if (!iterators.has(ShardId) && !finished.has(ShardId)) iterators.set(ShardId, await iteratorFor(ShardId))
    }
  }

  const iteratorFor = async (ShardId: string): Promise<string> => {
    const from = (place: object) =>
      client.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON', ...place }))
    const after = positions[ShardId]
    const { ShardIterator = '' } =
      after === undefined
        ? await from({})
        : await from({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }).catch(() => from({}))
    return ShardIterator
  }

  /** Reads one page of a shard; true when there was something in it. */
  const step = async (ShardId: string, ShardIterator: string): Promise<boolean> => {
    const { Records: records = [], NextShardIterator } = await client.send(
      new GetRecordsCommand({ ShardIterator, Limit: PAGE }),
    )
    const wanted = records.filter(options.wanted).map(toLambdaRecord)
    await Promise.all(lanesOf(wanted).map((lane) => handleLane(options, lane)))
    const last = records.at(-1)?.dynamodb?.SequenceNumber
    if (last !== undefined) {
      positions[ShardId] = last
      if (positionFile !== undefined) writeJsonFile(positionFile, positions)
    }
    if (NextShardIterator === undefined) {
      iterators.delete(ShardId)
      finished.add(ShardId)
      await openShards()
    } else iterators.set(ShardId, NextShardIterator)
    return records.length > 0
  }

  const poll = async () => {
    while (!closing.signal.aborted) {
      try {
        if (iterators.size === 0) await openShards()
        let busy = false
        for (const [shardId, iterator] of iterators) busy = (await step(shardId, iterator)) || busy
        if (!busy) await pause(IDLE_WAIT_MS, closing.signal)
      } catch {
        // An iterator may have expired (a laptop that slept): the next one is taken from the kept place.
        iterators.clear()
        await pause(BROKEN_WAIT_MS, closing.signal)
      }
    }
  }
  await openShards()
  const polling = poll()

  return {
    close: async () => {
      closing.abort()
      await polling
      client.destroy()
    },
  }
}

/** Records of one partition key stay in one lane and thereby in order; the lanes run side by side, as on AWS. */
const lanesOf = (records: readonly LambdaRecord[]): LambdaRecord[][] => {
  const lanes: LambdaRecord[][] = Array.from({ length: LANES }, () => [])
  for (const record of records) {
    const partition = record.dynamodb.Keys?.[TABLE_SCHEMA.partitionKey]?.S ?? ''
    lanes[slotOf(partition, LANES)]?.push(record)
  }
  return lanes
}

const handleLane = async (
  { invoke, batchSize }: Pick<StreamPollerOptions, 'invoke' | 'batchSize'>,
  lane: readonly LambdaRecord[],
): Promise<void> => {
  for (const batch of chunks(lane, batchSize)) await handleBatch(invoke, batch)
}

/** Hands the records to the function, from the failed one on again, until each succeeded or was tried often enough. */
const handleBatch = async (invoke: StreamPollerOptions['invoke'], batch: readonly LambdaRecord[]): Promise<void> => {
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
  records: readonly LambdaRecord[],
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

type LambdaRecord = ReturnType<typeof toLambdaRecord>

// The table holds no binary attributes, so the SDK's form of an item is also Lambda's.
const toLambdaRecord = ({ eventID, eventName, eventVersion, eventSource, awsRegion, dynamodb }: StreamRecord) => ({
  eventID,
  eventName,
  eventVersion,
  eventSource,
  awsRegion,
  dynamodb: {
    Keys: dynamodb?.Keys,
    NewImage: dynamodb?.NewImage,
    SequenceNumber: dynamodb?.SequenceNumber,
    SizeBytes: dynamodb?.SizeBytes,
    StreamViewType: dynamodb?.StreamViewType,
  },
})
