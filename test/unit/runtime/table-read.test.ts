import { BatchGetCommand, DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { ClientIdSchema } from '../../../shared/ids.ts'
import { clientKey } from '../../../shared/table/keys.ts'
import { testDeps } from '../../support/test-deps.ts'

const aKey = () => clientKey(v.parse(ClientIdSchema, crypto.randomUUID()))

const NAME = inject('tableName')

// DynamoDB Local reads consistently whatever is asked for, and leaves no key of a batch unprocessed.
const client = mockClient(DynamoDBDocumentClient)
beforeEach(() => void client.reset())
afterEach(() => void client.reset())

describe('reads that decide (style guide: consistent and on the table)', () => {
  it('ask for consistency, one item, many items and ranges of the table alike', async () => {
    const deps = testDeps()
    client.on(GetCommand).resolves({})
    client.on(BatchGetCommand).resolves({})
    client.on(QueryCommand).resolves({})

    await deps.table.get(aKey())
    await deps.table.getMany([aKey()])
    await deps.table.query({ partition: ['x'], limit: 1 })

    expect(client.commandCalls(GetCommand)[0]?.args[0].input.ConsistentRead).toBe(true)
    const [batch] = client.commandCalls(BatchGetCommand)
    expect(batch?.args[0].input.RequestItems?.[NAME]?.ConsistentRead).toBe(true)
    expect(client.commandCalls(QueryCommand)[0]?.args[0].input.ConsistentRead).toBe(true)
  })

  it('do not ask an index for what it cannot give', async () => {
    client.on(QueryCommand).resolves({})

    await testDeps().table.query({ index: 'by-owner', partition: ['x', 'payment'], limit: 1 })

    expect(client.commandCalls(QueryCommand)[0]?.args[0].input.ConsistentRead).toBe(false)
  })
})

describe('a batch that DynamoDB leaves incomplete', () => {
  it('is asked for again until it is complete, each time for what is left', async () => {
    const deps = testDeps()
    const [one, two] = [aKey(), aKey()]
    client
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { [NAME]: [{ ...two, name: 'two' }] },
        UnprocessedKeys: { [NAME]: { Keys: [one] } },
      })
      .resolvesOnce({ Responses: { [NAME]: [{ ...one, name: 'one' }] } })

    const items = await deps.table.getMany([one, two])

    expect(items.map((item) => item?.['name'])).toStrictEqual(['one', 'two'])
    const asked = client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems)
    expect(asked.map((request) => request?.[NAME]?.Keys)).toStrictEqual([[one, two], [one]])
  })

  it('is given up after eight tries, instead of calling its items missing', async () => {
    const deps = testDeps()
    const key = aKey()
    client.on(BatchGetCommand).callsFake(() => {
      if (client.commandCalls(BatchGetCommand).length > 20) throw new Error('asked for ever')
      return { UnprocessedKeys: { [NAME]: { Keys: [key] } } }
    })

    await expect(deps.table.getMany([key])).rejects.toThrow('stayed incomplete')

    expect(client.commandCalls(BatchGetCommand)).toHaveLength(8)
  })
})
