import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { type IndexSchema, TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { localAws } from './dynamodb-local.ts'

const keySchema = ({ partition, sort }: Pick<IndexSchema, 'partition' | 'sort'>): KeySchemaElement[] => [
  ...partition.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' as const })),
  ...sort.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' as const })),
]

const projection = ({ include }: IndexSchema) =>
  include.length > 0
    ? { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...include] }
    : { ProjectionType: 'KEYS_ONLY' as const }

/** Makes the table of the schema in DynamoDB Local; one that exists already (a `--data` directory) is kept. */
export const createTable = async (endpoint: string, name: string): Promise<void> => {
  const client = new DynamoDBClient(localAws(endpoint))
  const { attributeTypes, indexes, partitionKey, sortKey, stream } = TABLE_SCHEMA
  try {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: Object.entries(attributeTypes).map(
          ([AttributeName, AttributeType]): AttributeDefinition => ({ AttributeName, AttributeType }),
        ),
        KeySchema: keySchema({ partition: [partitionKey], sort: [sortKey] }),
        GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, index]) => ({
          IndexName,
          KeySchema: keySchema(index),
          Projection: projection(index),
        })),
        StreamSpecification: { StreamEnabled: true, StreamViewType: stream },
      }),
    )
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  }
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName: name })
  await assertOurSchema(client, name)
  client.destroy()
}

const sorted = (texts: readonly string[]): string[] => texts.toSorted()

/** A table that an earlier version of the schema made would fail later, and not say why. */
const assertOurSchema = async (client: DynamoDBClient, name: string): Promise<void> => {
  const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }))
  const found = (table?.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema, Projection }) => [
    IndexName,
    (KeySchema ?? []).map(({ AttributeName }) => AttributeName),
    sorted(Projection?.NonKeyAttributes ?? []),
  ])
  const wanted = Object.entries(TABLE_SCHEMA.indexes).map(([indexName, { partition, sort, include }]) => [
    indexName,
    [...partition, ...sort],
    sorted(include),
  ])
  const asText = (indexes: readonly object[]) => sorted(indexes.map((index) => JSON.stringify(index))).join()
  if (asText(found) === asText(wanted)) return
  throw new Error(`table ${name} has the indexes of another version; start with a new data directory`)
}
