import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { AccessDenied, grantedDeps } from '../../infra/local/functions/granted-deps.ts'
import type { TableAccess } from '../../shared/table/access.ts'
import { TABLE_ACTIONS } from '../../shared/table/access.ts'
import { PARTITIONS, pkPrefix } from '../../shared/table/keys.ts'
import { queryPage } from '../../shared/table/read.ts'
import { testDeps } from '../support/test-deps.ts'

const [first] = MANIFEST
if (!first) throw new Error('the manifest is empty')

const granted = (table: TableAccess) => grantedDeps('local', { ...first, name: 'a-function', table }, testDeps()).table

const key = (partition: (typeof PARTITIONS)[number]) => ({
  pk: `${pkPrefix(partition)}${crypto.randomUUID()}`,
  sk: 'X',
})
const TableName = 'not reached'
const payment = key('PAYMENT')
const client = key('CLIENT')
const set = { UpdateExpression: 'SET a = :a' }
const condition = { ConditionExpression: 'attribute_exists(pk)' }

/** Every way to the table, on a payment; and a batch or transaction in which only one part is a payment. */
const COMMANDS = [
  ['GetItem', new GetCommand({ TableName, Key: payment })],
  ['GetItem', new TransactGetCommand({ TransactItems: [{ Get: { TableName, Key: payment } }] })],
  ['BatchGetItem', new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [client, payment] } } })],
  ['PutItem', new PutCommand({ TableName, Item: payment })],
  ['UpdateItem', new UpdateCommand({ TableName, Key: payment, ...set })],
  ['DeleteItem', new DeleteCommand({ TableName, Key: payment })],
  [
    'Query',
    new QueryCommand({
      TableName,
      KeyConditionExpression: '#pk = :v0 AND begins_with(#sk, :v1)',
      ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk' },
      ExpressionAttributeValues: { ':v0': payment.pk, ':v1': client.pk },
    }),
  ],
  ['PutItem', new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item: payment } }] })],
  [
    'UpdateItem',
    new TransactWriteCommand({
      TransactItems: [{ Update: { TableName, Key: client, ...set } }, { Update: { TableName, Key: payment, ...set } }],
    }),
  ],
  ['DeleteItem', new TransactWriteCommand({ TransactItems: [{ Delete: { TableName, Key: payment } }] })],
  [
    'ConditionCheckItem',
    new TransactWriteCommand({ TransactItems: [{ ConditionCheck: { TableName, Key: payment, ...condition } }] }),
  ],
] as const

describe('the table a manifest entry states', () => {
  it('lets stated items through, with their answer', async () => {
    const table = granted({ PutItem: ['PAYMENT'], GetItem: ['PAYMENT'] })

    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...payment, value: 1 } }))
    const { Item: item } = await table.client.send(new GetCommand({ TableName: table.name, Key: payment }))

    expect(item).toStrictEqual({ ...payment, value: 1 })
  })

  it.each(COMMANDS)('refuses %s on a kind of item that is not stated for it', async (action, command) => {
    const others = PARTITIONS.filter((partition) => partition !== 'PAYMENT')
    const everyAction = Object.fromEntries(TABLE_ACTIONS.map((other) => [other, PARTITIONS]))
    const table = granted({ ...everyAction, [action]: others })

    await expect(table.client.send(command as GetCommand)).rejects.toThrow(
      new AccessDenied(`a-function is not granted dynamodb:${action} on items PAYMENT# in functions/manifest.ts`),
    )
  })

  it('refuses an index that is not stated, and lets a stated one through', async () => {
    const table = granted({ indexes: ['by-owner'], Query: PARTITIONS })
    const byOwner = { index: 'by-owner', partition: ['nobody', 'payment'], limit: 1 } as const

    expect((await queryPage({ table }, byOwner)).items).toStrictEqual([])
    await expect(
      queryPage({ table }, { ...byOwner, index: 'by-status', partition: ['nobody', 'payment', 'paid'] }),
    ).rejects.toThrow('a-function is not granted dynamodb:Query on index by-status')
  })

  it('does not take a stated index for the table, nor the table for an index', async () => {
    const partition = [payment.pk]

    await expect(queryPage({ table: granted({ indexes: ['by-owner'] }) }, { partition, limit: 1 })).rejects.toThrow(
      'Query on items PAYMENT#',
    )
    await expect(
      queryPage({ table: granted({ Query: ['PAYMENT'] }) }, { index: 'by-due', partition: ['payment', 0], limit: 1 }),
    ).rejects.toThrow('Query on index by-due')
  })

  it('refuses a query whose partition it cannot see, and every action nobody can be granted', async () => {
    const everything = granted(Object.fromEntries(TABLE_ACTIONS.map((action) => [action, PARTITIONS])))
    const hidden = new QueryCommand({ TableName, KeyConditionExpression: 'sk = :v0 AND pk = :v1' })

    await expect(everything.client.send(hidden)).rejects.toThrow(AccessDenied)
    await expect(everything.client.send(new ScanCommand({ TableName }))).rejects.toThrow('dynamodb:ScanCommand')
  })
})
