import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type GlobalSecondaryIndexDescription,
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

const DEFINITIONS: AttributeDefinition[] = Object.entries(TABLE_SCHEMA.attributeTypes).map(
  ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }),
)

const INDEXES: GlobalSecondaryIndex[] = Object.entries(TABLE_SCHEMA.indexes).map(([IndexName, index]) => ({
  IndexName,
  KeySchema: keySchema(index),
  Projection: projection(index),
}))

/**
 * Creates the table of the schema in DynamoDB Local, or keeps the existing one of a `--data` directory. Throws if
 * another version of the schema created that one.
 */
export const createTable = async (endpoint: string, name: string): Promise<void> => {
  const client = new DynamoDBClient(localAws(endpoint))
  const { partitionKey, sortKey } = TABLE_SCHEMA
  try {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: DEFINITIONS,
        KeySchema: keySchema({ partition: [partitionKey], sort: [sortKey] }),
        GlobalSecondaryIndexes: INDEXES,
      }),
    )
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  }
  await assertOwnIndexes(client, name)
  client.destroy()
}

type DescribedIndex = Pick<GlobalSecondaryIndexDescription, 'IndexName' | 'KeySchema' | 'Projection'>

const asText = (indexes: readonly DescribedIndex[]): string =>
  indexes
    .map(({ IndexName, KeySchema = [], Projection }) => {
      const keys = KeySchema.map(({ AttributeName }) => AttributeName)
      return JSON.stringify([IndexName, keys, (Projection?.NonKeyAttributes ?? []).toSorted()])
    })
    .toSorted()
    .join()

/** A table with another schema would fail later, with an unclear error. */
const assertOwnIndexes = async (client: DynamoDBClient, TableName: string): Promise<void> => {
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName })
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  if (asText(Table?.GlobalSecondaryIndexes ?? []) === asText(INDEXES)) return
  throw new Error(`table ${TableName} has the indexes of another version; start with a new data directory`)
}
