import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { describeOnDynamoDb, dynamoDb } from '../../support/dynamodb.ts'

const describe = await describeOnDynamoDb()

describe('the table of a data directory', () => {
  it('is refused when it was made by another version of the schema, and kept when it is ours', async () => {
    const { endpoint } = dynamoDb()
    const TableName = `other-${crypto.randomUUID()}`
    const client = new DynamoDBClient(localAws(endpoint))
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      }),
    )
    client.destroy()

    await expect(createTable(endpoint, TableName)).rejects.toThrow(
      'has the indexes of another version; start with a new data directory',
    )
    await expect(createTable(endpoint, dynamoDb().tableName)).resolves.toBeUndefined()
  })
})
