import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBRecord } from 'aws-lambda'
import * as v from 'valibot'
import { withoutLog } from '../../../shared/runtime/aws/without-log.ts'
import { readJsonFile, writeJsonFile } from '../process/json-file.ts'
import { localAws } from './dynamodb-local.ts'
import type { ChangeStream } from './local-table.ts'

const PAGE = 1_000

/** The last record handled, of each shard. */
const Positions = v.record(v.string(), v.string())

// The SDK and Lambda name one wire format differently; the table holds no binary values, the only real difference.
const RecordsSchema = v.custom<readonly DynamoDBRecord[]>(Array.isArray)

/** The stream of a table in DynamoDB Local. A crash repeats the page that was not handled to its end. */
export const openDynamoDbStream = async (
  table: { readonly endpoint: string; readonly name: string },
  positionFile?: string,
): Promise<ChangeStream> => {
  const client = withoutLog(new DynamoDBStreamsClient({ ...localAws(table.endpoint), cacheMiddleware: true }))
  const { Streams: streams = [] } = await client.send(new ListStreamsCommand({ TableName: table.name }))
  const StreamArn = streams.at(-1)?.StreamArn
  const positions = (positionFile !== undefined && readJsonFile(positionFile, Positions)) || {}
  const iterators = new Map<string, string>()
  const finished = new Set<string>()

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
  const readShard = async (
    ShardId: string,
    ShardIterator: string,
    handle: Parameters<ChangeStream['read']>[0],
  ): Promise<boolean> => {
    const { Records: records = [], NextShardIterator } = await client.send(
      new GetRecordsCommand({ ShardIterator, Limit: PAGE }),
    )
    const last = records.at(-1)?.dynamodb?.SequenceNumber
    if (last !== undefined) {
      await handle(v.parse(RecordsSchema, records))
      positions[ShardId] = last
      if (positionFile !== undefined) writeJsonFile(positionFile, positions)
    }
    if (NextShardIterator === undefined) {
      iterators.delete(ShardId)
      finished.add(ShardId)
      await openShards()
    } else iterators.set(ShardId, NextShardIterator)
    return last !== undefined
  }

  await openShards()
  return {
    read: async (handle) => {
      try {
        if (iterators.size === 0) await openShards()
        let any = false
        for (const [shardId, iterator] of iterators) any = (await readShard(shardId, iterator, handle)) || any
        return any
      } catch (error) {
        // An iterator may have expired (a laptop that slept): the next one is taken from the kept place.
        iterators.clear()
        throw error
      }
    },
    close: () => client.destroy(),
  }
}
