import { join } from 'node:path'
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import {
  insertedWith,
  type StreamPollerOptions,
  startStreamPoller,
} from '../../../infra/local/triggers/stream-poller.ts'
import { dynamoDbEndpoint } from '../../support/dynamodb-endpoint.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const endpoint = dynamoDbEndpoint()
const client = new DynamoDBClient(localAws(endpoint))
afterAll(() => client.destroy())

type Answer = (names: readonly string[], sequences: readonly string[]) => unknown

/** A table of its own with these inserts, and what the stream's function is given of it. */
const aStream = async (...inserted: readonly string[]) => {
  const tableName = `stream-${crypto.randomUUID()}`
  await createTable(endpoint, tableName)
  const put = (name: string, { pk = 'one', sk = `EVENT#${name}` } = {}) =>
    client.send(new PutItemCommand({ TableName: tableName, Item: marshall({ pk, sk, name }) }))
  for (const name of inserted) await put(name)
  const read = async (answer: Answer = succeed, changes: Partial<StreamPollerOptions> = {}) => {
    const batches: (readonly string[])[] = []
    const poller = await startStreamPoller({
      endpoint,
      tableName,
      wanted: insertedWith('EVENT#'),
      batchSize: 25,
      invoke: async ({ Records: records }) => {
        const names = records.map(({ dynamodb }) => dynamodb.NewImage?.['name']?.S ?? '')
        batches.push(names)
        return answer(
          names,
          records.map(({ dynamodb }) => dynamodb.SequenceNumber ?? ''),
        )
      },
      ...changes,
    })
    onTestFinished(poller.close)
    const seen = () => batches.flat()
    const hasSeen = (names: readonly string[]) => eventually(() => expect(seen()).toStrictEqual(names))
    return { batches, seen, hasSeen, close: poller.close }
  }
  return { tableName, put, read }
}

const succeed: Answer = () => ({ batchItemFailures: [] })
const failAt =
  (name: string): Answer =>
  (names, sequences) => {
    const at = names.indexOf(name)
    return { batchItemFailures: at === -1 ? [] : [{ itemIdentifier: sequences[at] }] }
  }

describe('the stream poller (design sections 4 and 6)', () => {
  it('hands on inserts with the sort key prefix, in order, and nothing else', async () => {
    const { put, read, tableName } = await aStream('a')
    await put('b', { sk: 'PAYMENT' })
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: marshall({ pk: 'one', sk: 'EVENT#a' }),
        UpdateExpression: 'SET changed = :yes',
        ExpressionAttributeValues: marshall({ ':yes': true }),
      }),
    )
    await put('c')

    const { hasSeen } = await read()
    await hasSeen(['a', 'c'])
    await put('d')

    await hasSeen(['a', 'c', 'd'])
  })

  it('repeats a batch from the failed record on', async () => {
    const { read } = await aStream('a', 'b', 'c')
    const answers = [failAt('b')]

    const { hasSeen } = await read((...batch) => (answers.pop() ?? succeed)(...batch))

    await hasSeen(['a', 'b', 'c', 'b', 'c'])
  })

  it('leaves out a record that fails again and again, and goes on after it', async () => {
    const { read } = await aStream('b', 'c')

    const { batches, seen } = await read(failAt('b'))
    await eventually(() => expect(batches.at(-1)).toStrictEqual(['c']))

    expect(seen()).toStrictEqual(['b', 'c', 'b', 'c', 'b', 'c', 'c'])
  })

  it('goes on where it was after a restart', async () => {
    const { put, read } = await aStream('before')
    const positionFile = join(tempDirectory(), 'position.json')
    const first = await read(succeed, { positionFile })
    await first.hasSeen(['before'])
    await first.close()
    await put('meanwhile')

    const second = await read(succeed, { positionFile })

    await second.hasSeen(['meanwhile'])
  })
})
