import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import type { LocalTable } from '../../../infra/local/emulators/local-table.ts'
import { openMemoryTable } from '../../../infra/local/emulators/memory-table/open-memory-table.ts'
import { openDynamoDbStream } from '../../../infra/local/emulators/open-dynamodb-stream.ts'
import { insertedWith, startStreamPoller } from '../../../infra/local/triggers/stream-poller.ts'
import { dynamoDbClient } from '../../../shared/runtime/aws/dynamodb-client.ts'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { isNew } from '../../../shared/table/condition.ts'
import { put as insert, update } from '../../../shared/table/step.ts'
import { describeOnDynamoDb, dynamoDb } from '../../support/dynamodb.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

type Answer = (names: readonly string[], sequences: readonly string[]) => unknown

type Source = Pick<LocalTable, 'requests' | 'openStream'>
type Reader = { readonly batchSize?: number; readonly positionFile?: string }

/** A new table with these inserts, and what the stream's function is given of it. */
const aStream = async (inserted: readonly string[], { requests, openStream }: Source = openMemoryTable()) => {
  const put = (name: string, { pk = 'one', sk = `EVENT#${name}` } = {}) =>
    requests.write(insert({ pk, sk }, { name }, isNew))
  for (const name of inserted) await put(name)
  const read = async (answer: Answer = succeed, { batchSize = 25, positionFile }: Reader = {}) => {
    const batches: (readonly string[])[] = []
    const poller = startStreamPoller({
      stream: await openStream(positionFile),
      wanted: insertedWith('EVENT#'),
      batchSize,
      invoke: async ({ Records: records }) => {
        const names = records.map(({ dynamodb }) => dynamodb?.NewImage?.['name']?.S ?? '')
        batches.push(names)
        return answer(
          names,
          records.map(({ dynamodb }) => dynamodb?.SequenceNumber ?? ''),
        )
      },
    })
    onTestFinished(poller.close)
    const seen = () => batches.flat()
    const hasSeen = (names: readonly string[]) => eventually(() => expect(seen()).toStrictEqual(names))
    return { batches, seen, hasSeen, close: poller.close }
  }
  return { put, read, write: requests.write }
}

const succeed: Answer = () => ({ batchItemFailures: [] })
const failAt =
  (name: string): Answer =>
  (names, sequences) => {
    const at = names.indexOf(name)
    return { batchItemFailures: at === -1 ? [] : [{ itemIdentifier: sequences[at] }] }
  }

const handsOnInserts = async (source?: Source) => {
  const { put, read, write } = await aStream(['a'], source)
  await put('b', { sk: 'PAYMENT' })
  await write(update({ pk: 'one', sk: 'EVENT#a' }, { set: { changed: true } }))
  await put('c')

  const { hasSeen } = await read()
  await hasSeen(['a', 'c'])
  await put('d')

  await hasSeen(['a', 'c', 'd'])
}

describe('the stream poller (design sections 4 and 6)', () => {
  it('hands on inserts with the sort key prefix, in order, and nothing else', () => handsOnInserts())

  it('repeats a batch from the failed record on', async () => {
    const { read } = await aStream(['a', 'b', 'c'])
    const answers = [failAt('b')]

    const { hasSeen } = await read((...batch) => (answers.pop() ?? succeed)(...batch))

    await hasSeen(['a', 'b', 'c', 'b', 'c'])
  })

  it('leaves out a record that fails again and again, and goes on after it', async () => {
    const { read } = await aStream(['b', 'c'])

    const { batches, seen } = await read(failAt('b'))
    await eventually(() => expect(batches.at(-1)).toStrictEqual(['c']))

    expect(seen()).toStrictEqual(['b', 'c', 'b', 'c', 'b', 'c', 'c'])
  })
})

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('the stream poller on DynamoDB Local', () => {
  const aTable = async (): Promise<Source> => {
    const { endpoint } = dynamoDb()
    const name = `stream-${crypto.randomUUID()}`
    await createTable(endpoint, name)
    const client = dynamoDbClient(localAws(endpoint))
    onTestFinished(() => client.destroy())
    return {
      requests: dynamoDbRequests({ client, name }),
      openStream: (positionFile) => openDynamoDbStream({ endpoint, name }, positionFile),
    }
  }

  it('hands on the same', async () => {
    await handsOnInserts(await aTable())
  })

  it('goes on where it was after a restart', async () => {
    const { put, read } = await aStream(['before'], await aTable())
    const positionFile = join(tempDirectory(), 'position.json')
    const first = await read(succeed, { positionFile })
    await first.hasSeen(['before'])
    await first.close()
    await put('meanwhile')

    const second = await read(succeed, { positionFile })

    await second.hasSeen(['meanwhile'])
  })
})
