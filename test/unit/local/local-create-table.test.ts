import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { TABLE_SCHEMA, tableShape } from '../../../shared/table/schema.ts'
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

    await expect(createTable(endpoint, TableName)).rejects.toThrow('has the indexes of another version')
    await expect(createTable(endpoint, dynamoDb().tableName)).resolves.toBeUndefined()
  })

  it.each([
    ['was made by the release before', []],
    ['was left half way to ours by a process that died', ['by-owner-paid']],
  ])('gets our indexes and keeps its items when it %s', async (_, begun) => {
    const { endpoint } = dynamoDb()
    const TableName = `former-${crypto.randomUUID()}`
    const { attributeTypes, indexes } = tableShape('complete')
    const client = new DynamoDBClient(localAws(endpoint))
    const key = (KeyType: 'HASH' | 'RANGE') => (AttributeName: string) => ({ AttributeName, KeyType })
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: Object.entries(attributeTypes).map(([AttributeName, AttributeType]) => ({
          AttributeName,
          AttributeType,
        })),
        KeySchema: [key('HASH')('pk'), key('RANGE')('sk')],
        GlobalSecondaryIndexes: Object.entries(indexes)
          .filter(([name]) => name !== 'by-owner-paid' || begun.length > 0)
          .map(([IndexName, { partition, sort, include }]) => ({
            IndexName,
            KeySchema: [...partition.map(key('HASH')), ...sort.map(key('RANGE'))],
            Projection:
              include.length > 0
                ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] }
                : { ProjectionType: 'KEYS_ONLY' },
          })),
      }),
    )
    const text = (S: string) => ({ S })
    const paid = { pk: text('PAYMENT#1'), sk: text('PAYMENT'), id: text('1'), owner: text('o'), paid_at: text('t') }
    await client.send(new PutItemCommand({ TableName, Item: { ...paid, client_id: text('o') } }))

    await createTable(endpoint, TableName)

    const { Table } = await client.send(new DescribeTableCommand({ TableName }))
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).toSorted()).toStrictEqual(
      Object.keys(TABLE_SCHEMA.indexes).toSorted(),
    )
    const found = await client.send(
      new QueryCommand({
        TableName,
        IndexName: 'by-owner-paid',
        KeyConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': text('o') },
      }),
    )
    expect(found.Items).toStrictEqual([paid])
    client.destroy()
  })
})
