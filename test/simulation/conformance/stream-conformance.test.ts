import { randomUUID } from 'node:crypto'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBRecord } from 'aws-lambda'
import { expect, it } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { memoryRequests } from '../../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { streamRecord } from '../../../infra/local/emulators/memory-table/stream-record.ts'
import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { equals, exists, isNew } from '../../../shared/table/condition.ts'
import { put, remove, update } from '../../../shared/table/step.ts'
import { describeOnDynamoDb, dynamoDb } from '../../support/dynamodb.ts'
import { type Asked, ask, localTable, transact } from './on-both.ts'

/** Goal: the model’s stream says what DynamoDB’s says. Method: the same writes to both, and both streams read. */
const [A, B, C] = [
  { pk: 'item', sk: 'a' },
  { pk: 'item', sk: 'b' },
  { pk: 'item', sk: 'c' },
] as const

/** No empty map in it: DynamoDB Local's stream writes one as a value without a type, which AWS's does not. */
const ITEM = {
  text: 'é',
  amount: -12,
  flag: false,
  nothing: null,
  list: [1, 'a'],
  map: { b: [] },
  tags: new Set(['x']),
}

const WRITES: readonly Asked[] = [
  put(A, ITEM, isNew),
  put(A, ITEM),
  put(A, ITEM, isNew),
  update(A, { add: { amount: 2 }, remove: ['nothing'] }),
  update(A, { set: { text: 'é' } }),
  update(A, { deleteFromSet: { tags: new Set(['none']) } }),
  update(A, { deleteFromSet: { tags: new Set(['x']) } }),
  update(B, { remove: ['missing'] }),
  remove(C, equals('pk', 'none')),
  transact(put(C, { a: 1 }, isNew), update(A, { set: { text: 'b' } }), remove(B, exists)),
  transact(put(B, {}, isNew), remove(C, isNew)),
  transact(update(A, { set: { text: 'b' } }), update(C, { set: { a: 2 } })),
  remove(A, exists),
]

const writeAll = async (table: TableRequests) => {
  for (const asked of WRITES) await ask(table, asked)
}

/** What the records say, item by item: DynamoDB promises their order only within an item. */
const told = (records: readonly DynamoDBRecord[]) =>
  Object.groupBy(
    records.map(({ eventName, dynamodb: { Keys, NewImage, StreamViewType, SizeBytes } = {} }) => ({
      eventName,
      Keys,
      NewImage,
      StreamViewType,
      SizeBytes,
    })),
    ({ Keys }) => JSON.stringify(Keys, ['pk', 'sk', 'S']),
  )

const modelRecords = async () => {
  const changes: TableChange[] = []
  const table = createMemoryTable({ onChange: (change) => changes.push(change) })
  await writeAll(memoryRequests(table))
  return changes.map(streamRecord)
}

const localRecords = async (): Promise<readonly DynamoDBRecord[]> => {
  const { endpoint } = dynamoDb()
  const tableName = `stream-${randomUUID()}`
  await createTable(endpoint, tableName)
  await writeAll(localTable(tableName))
  const client = new DynamoDBStreamsClient(localAws(endpoint))
  const { Streams: [stream] = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }))
  const StreamArn = stream?.StreamArn
  const { StreamDescription: description } = await client.send(new DescribeStreamCommand({ StreamArn }))
  const records: DynamoDBRecord[] = []
  for (const { ShardId } of description?.Shards ?? []) {
    const place = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const
    const { ShardIterator } = await client.send(new GetShardIteratorCommand(place))
    const { Records: found = [] } = await client.send(new GetRecordsCommand({ ShardIterator }))
    // The SDK and Lambda name one wire format differently.
    records.push(...(found as DynamoDBRecord[]))
  }
  client.destroy()
  return records
}

const describe = await describeOnDynamoDb()

describe('the model’s stream', () => {
  it('has the records of DynamoDB Local’s: one for each change, none for a write that changes nothing', async () => {
    const [model, local] = [told(await modelRecords()), told(await localRecords())]

    expect(model).toStrictEqual(local)
    expect(Object.values(model).map((records) => records?.map(({ eventName }) => eventName))).toStrictEqual([
      ['INSERT', 'MODIFY', 'MODIFY', 'MODIFY', 'REMOVE'],
      ['INSERT', 'REMOVE'],
      ['INSERT', 'MODIFY'],
    ])
  })
})
