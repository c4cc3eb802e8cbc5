import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { localAws } from '../../infra/local/emulators/dynamodb-local.ts'
import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable } from '../../infra/local/emulators/memory-table/memory-table.ts'
import { dynamoDbClient } from '../../shared/runtime/aws/dynamodb-client.ts'
import { dynamoDbRequests } from '../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import { exists } from '../../shared/table/condition.ts'
import { put, remove, type Step, update } from '../../shared/table/step.ts'
import { describeOnDynamoDb, dynamoDb } from '../support/dynamodb.ts'
import { meterTable, storedBytes } from './meter-table.ts'

const meteredTable = () => {
  const table = createMemoryTable({ indexes: 'immediate' })
  const { take } = meterTable(table)
  return { table, requests: memoryRequests(table), take }
}

const Capacity = v.object({ CapacityUnits: v.number() })
const Output = v.object({ ConsumedCapacity: v.optional(v.union([Capacity, v.array(Capacity)])) })

/** The table in DynamoDB Local, which says what each request used. */
const localTable = () => {
  const client = dynamoDbClient(localAws(dynamoDb().endpoint))
  onTestFinished(() => client.destroy())
  let used = 0
  client.middlewareStack.add(
    (next) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' })
      const result = await next(args)
      const { ConsumedCapacity: consumed = [] } = v.parse(Output, result.output)
      used += [consumed].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
      return result
    },
    { step: 'initialize' },
  )
  const take = () => {
    const taken = used
    used = 0
    return taken
  }
  return { requests: dynamoDbRequests({ client, name: dynamoDb().tableName }), take }
}

const pk = `bench-${randomUUID()}`
const key = { pk, sk: 'a' }
const listed = { owner: pk, entity: 'bench', listedAt: 'now', id: pk }
const page = { index: 'by-owner', partition: [pk, 'bench'], limit: 10 } as const

const write = (step: Step) => (table: TableRequests) => table.write(step)
const long = (letter: string) => ({ note: letter.repeat(4_500) })

/** In this order, each with what it costs. */
const SINGLE: readonly (readonly [string, number, (table: TableRequests) => Promise<unknown>])[] = [
  ['a small item', 1, write(put({ pk, sk: 'b' }, { note: 'short' }))],
  ['an item of five kilobytes in an index', 6, write(put(key, { ...listed, ...long('x') }))],
  ['a change that its index does not see', 5, write(update(key, { set: long('y') }))],
  ['a change of its place in the index', 7, write(update(key, { set: { listedAt: 'then' } }))],
  ['an item that is read', 2, (table) => table.get(key)],
  ['two items that are read together', 3, (table) => table.batchGet([key, { pk, sk: 'b' }])],
  ['two items that are read together, eventually', 1.5, (table) => table.batchGet([key, { pk, sk: 'b' }], 'eventual')],
  ['a page of the table', 2, (table) => table.query({ partition: [pk], limit: 10 })],
  ['a page of an index', 0.5, (table) => table.query(page)],
  ['a count of an index', 0.5, (table) => table.query({ ...page, countOnly: true })],
  ['an item that goes, with its entry', 6, write(remove(key, exists))],
]

/** What each of them uses by itself. */
const usedByEach = async (requests: TableRequests, take: () => number) => {
  const used: (readonly [string, number])[] = []
  for (const [name, , run] of SINGLE) {
    await run(requests)
    used.push([name, take()])
  }
  return used
}

const PUBLISHED = SINGLE.map(([name, units]) => [name, units])

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('DynamoDB Local', () => {
  it('says of single requests that they use the published units', async () => {
    const { requests, take } = localTable()

    expect(await usedByEach(requests, take)).toStrictEqual(PUBLISHED)
  })
})

describe('meterTable', () => {
  it('counts the same units for single requests', async () => {
    const { requests, take } = meteredTable()
    const sum = () => {
      const { reads, writes } = take()
      return reads + writes
    }

    expect(await usedByEach(requests, sum)).toStrictEqual(PUBLISHED)
  })

  it('counts what DynamoDB bills and DynamoDB Local does not: transactions twice, reads that find nothing', async () => {
    const { requests, take } = meteredTable()
    const missing = { pk, sk: 'missing' }

    await requests.transact([put(key, {}), put({ pk, sk: 'b' }, listed)])
    expect(take()).toMatchObject({ reads: 0, writes: 2 * (1 + 2) })
    await requests.transact([update({ pk, sk: 'b' }, { set: { id: 'another' } })])
    expect(take()).toMatchObject({ reads: 0, writes: 2 * (1 + 2) })
    await requests.get(missing)
    expect(take()).toMatchObject({ reads: 1, writes: 0 })
    await requests.batchGet([missing, { pk, sk: 'neither' }])
    expect(take()).toMatchObject({ reads: 2, writes: 0 })
    await requests.query({ ...page, partition: ['nobody', 'bench'] })
    expect(take()).toMatchObject({ reads: 0.5, writes: 0 })
  })

  it('counts a write that is refused', async () => {
    const { requests, take } = meteredTable()

    expect(await requests.write(update(key, { set: { note: 'late' } }, exists))).toMatchObject({ applied: false })

    expect(take()).toMatchObject({ reads: 0, writes: 1 })
  })
})

describe('storedBytes', () => {
  it('adds the overhead of the item and of every index that has it', async () => {
    const { table, requests } = meteredTable()
    await requests.write(put({ pk: 'ab', sk: 'c' }, { n: 12 }))
    const plain = 2 + 2 + 2 + 1 + (1 + 2) + 100

    expect(storedBytes(table)).toBe(plain)
    await requests.write(put({ pk: 'ab', sk: 'd' }, { owner: 'o', entity: 'e', listedAt: 't', id: 'i' }))
    const listedBytes = 2 + 2 + 2 + 1 + (5 + 1) + (6 + 1) + (9 + 1) + (2 + 1) + 100
    expect(storedBytes(table)).toBe(plain + 2 * listedBytes)
  })
})
