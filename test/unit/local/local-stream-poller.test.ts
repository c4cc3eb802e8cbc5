import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { type StreamPollerOptions, startStreamPoller } from '../../../infra/local/triggers/stream-poller.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const endpoint = inject('dynamodbEndpoint')
const client = DynamoDBDocumentClient.from(new DynamoDBClient(localAws(endpoint)))
afterAll(() => client.destroy())

type Batch = { readonly names: string[]; readonly sequences: string[] }
type Answer = (batch: Batch) => unknown

/** A table of its own, and what the stream's function is given of it. */
const aStream = async () => {
  const tableName = `stream-${crypto.randomUUID()}`
  await createTable(endpoint, tableName)
  const put = (name: string, { pk = 'one', sk = `EVENT#${name}` } = {}) =>
    client.send(new PutCommand({ TableName: tableName, Item: { pk, sk, name } }))
  const read = async (answer: Answer, changes: Partial<StreamPollerOptions> = {}) => {
    const batches: Batch[] = []
    const poller = await startStreamPoller({
      endpoint,
      tableName,
      insertedSkPrefix: 'EVENT#',
      batchSize: 25,
      invoke: async ({ Records: records }) => {
        const batch = {
          names: records.map(({ dynamodb }) => dynamodb.NewImage?.['name']?.S ?? ''),
          sequences: records.map(({ dynamodb }) => dynamodb.SequenceNumber ?? ''),
        }
        batches.push(batch)
        return answer(batch)
      },
      ...changes,
    })
    return { batches, seen: () => batches.flatMap(({ names }) => names), [Symbol.asyncDispose]: () => poller.close() }
  }
  return { tableName, put, read }
}

const succeed: Answer = () => ({ batchItemFailures: [] })
const failAt =
  (name: string): Answer =>
  ({ names, sequences }) => {
    const at = names.indexOf(name)
    return { batchItemFailures: at === -1 ? [] : [{ itemIdentifier: sequences[at] }] }
  }

describe('the stream poller (design sections 4 and 6)', () => {
  it('hands on inserts with the sort key prefix, in order, and nothing else', async () => {
    const { put, read, tableName } = await aStream()
    await put('a')
    await put('b', { sk: 'PAYMENT' })
    await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: { pk: 'one', sk: 'EVENT#a' },
        UpdateExpression: 'SET changed = :yes',
        ExpressionAttributeValues: { ':yes': true },
      }),
    )
    await put('c')

    await using stream = await read(succeed)
    await eventually(() => expect(stream.seen()).toHaveLength(2))
    await put('d')

    await eventually(() => expect(stream.seen()).toStrictEqual(['a', 'c', 'd']))
  })

  it('makes no batch larger than the manifest says', async () => {
    const { put, read } = await aStream()
    for (let n = 0; n < 7; n++) await put(`p${n}`)

    await using stream = await read(succeed, { batchSize: 3 })
    await eventually(() => expect(stream.seen()).toHaveLength(7))

    expect(stream.batches.every(({ names }) => names.length <= 3)).toBe(true)
  })

  it('hands on one partition while another one waits', async () => {
    const { put, read } = await aStream()
    const slow = Promise.withResolvers<unknown>()
    await put('slow', { pk: 'a' })
    for (const pk of ['b', 'c', 'd', 'e']) await put(`quick ${pk}`, { pk })

    await using stream = await read(({ names }) =>
      names.includes('slow') ? slow.promise : succeed({ names, sequences: [] }),
    )

    await eventually(() => expect(stream.seen().filter((name) => name.startsWith('quick')).length).toBeGreaterThan(1))
    slow.resolve(undefined)
  })

  it('repeats a batch from the failed record on', async () => {
    const { put, read } = await aStream()
    for (const name of ['a', 'b', 'c']) await put(name)
    let failures = 1

    await using stream = await read((batch) => (failures-- > 0 ? failAt('b')(batch) : succeed(batch)))

    await eventually(() => expect(stream.seen()).toStrictEqual(['a', 'b', 'c', 'b', 'c']))
  })

  it.each<[string, Answer]>([
    ['reported as failed', failAt('b')],
    [
      'thrown on',
      ({ names }) => {
        if (names.includes('b')) throw new Error('broken')
        return { batchItemFailures: [] }
      },
    ],
  ])('leaves a record behind that is %s again and again, and goes on behind it', async (_, answer) => {
    const { put, read } = await aStream()
    for (const name of ['b', 'c']) await put(name)

    await using stream = await read(answer)
    await eventually(() => expect(stream.batches.at(-1)?.names).toStrictEqual(['c']))

    expect(stream.seen()).toStrictEqual(['b', 'c', 'b', 'c', 'b', 'c', 'c'])
  })

  it('goes on where it was after a restart', async () => {
    const { put, read } = await aStream()
    const positionFile = join(tempDirectory(), 'position.json')
    await put('before')
    {
      await using first = await read(succeed, { positionFile })
      await eventually(() => expect(first.seen()).toStrictEqual(['before']))
    }
    await put('meanwhile')

    await using second = await read(succeed, { positionFile })

    await eventually(() => expect(second.seen()).toStrictEqual(['meanwhile']))
  })
})
