import { Agent } from 'node:http'
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
import { dynamoDbClient, dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { type IndexSchema, TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import type { DataDirectory } from '../process/data-directory.ts'
import { removeProcessRecord } from '../process/process-record.ts'
import { isReachableFromOutside } from './dynamodb-command.ts'
import type { DynamoDbLocal } from './dynamodb-local.ts'
import { localAws } from './local-aws.ts'
import type { LocalTable } from './local-table.ts'

const DEFINITIONS: AttributeDefinition[] = Object.entries(TABLE_SCHEMA.attributeTypes).map(
  ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }),
)

const INDEXES: GlobalSecondaryIndex[] = Object.entries(TABLE_SCHEMA.indexes).map(
  ([IndexName, index]) => ({
    IndexName,
    KeySchema: keySchema(index),
    Projection: { ProjectionType: 'KEYS_ONLY' },
  }),
)

/** Keeps the table of a `--data` directory. Throws if another version of the schema created it. */
export async function createTable(endpoint: string, name: string) {
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

function keySchema({
  partition,
  sort,
}: Pick<IndexSchema, 'partition' | 'sort'>): KeySchemaElement[] {
  return [
    ...partition.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' as const })),
    ...sort.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' as const })),
  ]
}

async function assertOwnIndexes(client: DynamoDBClient, TableName: string) {
  await waitUntilTableExists({ client, maxWaitTime: 120, minDelay: 1, maxDelay: 1 }, { TableName })
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  if (indexText(Table?.GlobalSecondaryIndexes ?? []) === indexText(INDEXES)) return
  throw new Error(
    `table ${TableName} has the indexes of another version; start with a new data directory`,
  )
}

type DescribedIndex = Pick<
  GlobalSecondaryIndexDescription,
  'IndexName' | 'KeySchema' | 'Projection'
>

function indexText(indexes: readonly DescribedIndex[]) {
  return indexes
    .map(({ IndexName, KeySchema = [], Projection }) => {
      const keys = KeySchema.map(({ AttributeName }) => AttributeName)
      return JSON.stringify([IndexName, keys, (Projection?.NonKeyAttributes ?? []).toSorted()])
    })
    .toSorted()
    .join()
}

/** All functions share this process, and DynamoDB Local answers more slowly than DynamoDB. */
const TABLE_HTTP = {
  connectionTimeout: 5_000,
  requestTimeout: 10_000,
  throwOnRequestTimeout: true,
  socketAcquisitionWarningTimeout: 60_000,
}
const TABLE_SOCKETS = 200

type TableOptions = { readonly dynamoDb: DynamoDbLocal; readonly data: DataDirectory | undefined }

export async function openDynamoDbTable(
  name: string,
  { dynamoDb, data }: TableOptions,
): Promise<LocalTable> {
  const { endpoint, pid, exitOutput } = dynamoDb
  const httpAgent = new Agent({ keepAlive: true, maxSockets: TABLE_SOCKETS })
  const reach = isReachableFromOutside(dynamoDb) ? ', which alone keeps other machines out' : ''
  const aws = localAws(endpoint)
  const client = dynamoDbClient({ ...aws, requestHandler: { ...TABLE_HTTP, httpAgent } })
  const close = async () => {
    client.destroy()
    httpAgent.destroy()
    await dynamoDb.close()
    if (data) removeProcessRecord(data.tableProcess)
  }
  try {
    await createTable(endpoint, name)
  } catch (error) {
    await close()
    throw error
  }
  return {
    requests: dynamoDbRequests({ client, name }),
    place: `${name} at ${aws.endpoint}   (DynamoDB Local, process ${pid}; access key ${aws.credentials.accessKeyId}${reach})`,
    dynamoDb: { endpoint, name, pid },
    exitOutput,
    close,
  }
}
