import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ResourceInUseException,
  type TableDescription,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { type IndexSchema, TABLE_SCHEMA, tableShape } from '../../../shared/table/schema.ts'

import { localAws } from './dynamodb-local.ts'

const keySchema = ({ partition, sort }: Pick<IndexSchema, 'partition' | 'sort'>): KeySchemaElement[] => [
  ...partition.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' as const })),
  ...sort.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' as const })),
]

const projection = ({ include }: IndexSchema) =>
  include.length > 0
    ? { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...include] }
    : { ProjectionType: 'KEYS_ONLY' as const }

const definitions = (types: Readonly<Record<string, 'S' | 'N'>>): AttributeDefinition[] =>
  Object.entries(types).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }))

const toIndex = (IndexName: string, index: IndexSchema): GlobalSecondaryIndex => ({
  IndexName,
  KeySchema: keySchema(index),
  Projection: projection(index),
})

/** The local gateway's rows are lean. */
const WANTED = tableShape('lean')

type Local = { readonly client: DynamoDBClient; readonly TableName: string }

/**
 * Makes the table of the schema in DynamoDB Local. One that exists already (a `--data` directory) is kept; where the
 * release before made it, its indexes become ours, one after the other.
 */
export const createTable = async (endpoint: string, name: string): Promise<void> => {
  const client = new DynamoDBClient(localAws(endpoint))
  const { partitionKey, sortKey, stream } = TABLE_SCHEMA
  try {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: definitions(WANTED.attributeTypes),
        KeySchema: keySchema({ partition: [partitionKey], sort: [sortKey] }),
        GlobalSecondaryIndexes: Object.entries(WANTED.indexes).map(([IndexName, index]) => toIndex(IndexName, index)),
        StreamSpecification: { StreamEnabled: true, StreamViewType: stream },
      }),
    )
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  }
  await exchangeIndexes({ client, TableName: name })
  client.destroy()
}

/** Of a new index the items of the table are put into it first; one that is removed stays for a moment. */
const LOOKS = 600
const LOOK_AGAIN_MS = 100

const described = async ({ client, TableName }: Local): Promise<TableDescription | undefined> => {
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName })
  for (let look = 0; look < LOOKS; look++) {
    const { Table: table } = await client.send(new DescribeTableCommand({ TableName }))
    if (table?.GlobalSecondaryIndexes?.every(({ IndexStatus }) => IndexStatus === 'ACTIVE') !== false) return table
    await sleep(LOOK_AGAIN_MS)
  }
  throw new Error(`the indexes of table ${TableName} are still being changed; start again`)
}

const sorted = (texts: readonly string[]): string[] => texts.toSorted()

const asText = (name: string | undefined, keys: readonly (string | undefined)[], include: readonly string[]): string =>
  JSON.stringify([name, keys, sorted(include)])

const wanted = (shape: typeof WANTED): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(shape.indexes).map(([name, { partition, sort, include }]) => [
      name,
      asText(name, [...partition, ...sort], include),
    ]),
  )

const found = (table: TableDescription | undefined): ReadonlyMap<string, string> =>
  new Map(
    (table?.GlobalSecondaryIndexes ?? []).map(({ IndexName = '', KeySchema = [], Projection }) => [
      IndexName,
      asText(
        IndexName,
        KeySchema.map(({ AttributeName }) => AttributeName),
        Projection?.NonKeyAttributes ?? [],
      ),
    ]),
  )

/**
 * One index at a time, as everywhere. A table that another version of the schema made would fail later, and not say why;
 * the release before this one lacks one index at most.
 */
const exchangeIndexes = async (local: Local): Promise<void> => {
  const change = async (input: Omit<UpdateTableCommandInput, 'TableName'>): Promise<void> => {
    await local.client.send(new UpdateTableCommand({ TableName: local.TableName, ...input }))
    await described(local)
  }
  const before = found(await described(local))
  const known = wanted(tableShape('complete'))
  const missing = Object.entries(WANTED.indexes).filter(([name]) => !before.has(name))
  if (missing.length > 1 || [...before].some(([name, text]) => known.get(name) !== text)) throw refused(local)
  for (const [name, index] of missing) {
    const AttributeDefinitions = definitions(tableShape('complete').attributeTypes)
    await change({ AttributeDefinitions, GlobalSecondaryIndexUpdates: [{ Create: toIndex(name, index) }] })
  }
  for (const IndexName of before.keys()) {
    if (!(IndexName in WANTED.indexes)) await change({ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName } }] })
  }
}

const refused = ({ TableName }: Local) =>
  new Error(`table ${TableName} has the indexes of another version; start with a new data directory`)
