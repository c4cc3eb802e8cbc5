import { randomUUID } from 'node:crypto'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { describe, expect, inject, it } from 'vitest'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import { localAws } from '../../infra/local/emulators/dynamodb-local.ts'
import { equals, exists, isNew } from '../../shared/table/condition.ts'
import { put, remove, update } from '../../shared/table/step.ts'
import { localBackend, type TableBackend } from './conformance/table-backend.ts'
import { tableCommands } from './conformance/table-commands.ts'
import { memoryRequests } from './sim-table/memory-requests.ts'
import { createSimTable } from './sim-table/sim-table.ts'
import { streamRecord } from './sim-table/stream-record.ts'
import type { TableChange } from './sim-table/table-view.ts'

/** Goal: the model’s stream says what DynamoDB’s says. Method: the same writes to both, and both streams read. */
const [A, B, C] = ['a', 'b', 'c'].map((sk) => ({ pk: 'item', sk })) as [Key, Key, Key]
type Key = { readonly pk: string; readonly sk: string }

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

const writeAll = async (backend: TableBackend) => {
  const { put: store, update: change, remove: drop, transact } = tableCommands(backend)
  await store(A, ITEM, isNew)
  await store(A, ITEM)
  await store(A, ITEM, isNew)
  await change(A, { add: { amount: 2 }, remove: ['nothing'] })
  await change(A, { set: { text: 'é' } })
  await change(A, { deleteFromSet: { tags: new Set(['none']) } })
  await change(A, { deleteFromSet: { tags: new Set(['x']) } })
  await change(B, { remove: ['missing'] })
  await drop(C, equals('pk', 'none'))
  await transact([put(C, { a: 1 }, isNew), update(A, { set: { text: 'b' } }), remove(B, exists)])
  await transact([put(B, {}, isNew), remove(C, isNew)])
  await transact([update(A, { set: { text: 'b' } }), update(C, { set: { a: 2 } })])
  await drop(A, exists)
}

type Record = {
  readonly eventName?: string | undefined
  readonly dynamodb?:
    | {
        readonly Keys?: unknown
        readonly NewImage?: unknown
        readonly StreamViewType?: unknown
        readonly SizeBytes?: unknown
      }
    | undefined
}

/** What the records say, item by item: DynamoDB promises their order only within an item. */
const told = (records: readonly Record[]) =>
  Object.groupBy(
    records.map(({ eventName, dynamodb }) => ({
      eventName,
      keys: dynamodb?.Keys,
      image: dynamodb?.NewImage,
      view: dynamodb?.StreamViewType,
      bytes: dynamodb?.SizeBytes,
    })),
    ({ keys }) => JSON.stringify(keys, ['pk', 'sk', 'S']),
  )

const modelRecords = async () => {
  const changes: TableChange[] = []
  const table = createSimTable({ onChange: (change) => changes.push(change) })
  await writeAll({ name: 'the model', requests: memoryRequests(table) })
  return changes.map(streamRecord)
}

const localRecords = async (): Promise<readonly Record[]> => {
  const endpoint = inject('dynamodbEndpoint')
  const tableName = `stream-${randomUUID()}`
  await createTable(endpoint, tableName)
  await writeAll(localBackend(tableName))
  const client = new DynamoDBStreamsClient(localAws(endpoint))
  const { Streams: [stream] = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }))
  const StreamArn = stream?.StreamArn
  const { StreamDescription: description } = await client.send(new DescribeStreamCommand({ StreamArn }))
  const records: Record[] = []
  for (const { ShardId } of description?.Shards ?? []) {
    const place = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const
    const { ShardIterator } = await client.send(new GetShardIteratorCommand(place))
    const { Records: found = [] } = await client.send(new GetRecordsCommand({ ShardIterator }))
    records.push(...found)
  }
  client.destroy()
  return records
}

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
