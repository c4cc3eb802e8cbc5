import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { equals, exists, isNew } from '../../shared/table/condition.ts'
import { getItem, getItems, queryPage } from '../../shared/table/read.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { put, remove, update } from '../../shared/table/step.ts'
import { conditionalWrite, transact } from '../../shared/table/write.ts'
import { asDocumentClient } from './sim-table/as-document-client.ts'
import { createSimTable, type SimTableOptions } from './sim-table/sim-table.ts'
import { isInsertOf } from './sim-table/stream-record.ts'
import type { TableChange } from './sim-table/table-change.ts'
import { conflictOnWrite, throttled, transactionConflict } from './sim-table/table-errors.ts'

const KEY = { pk: 'PAYMENT#1', sk: 'PAYMENT' }
const DUE = { work: 'payment', slot: 1, dueAt: 't1', id: 'a' }

/** A model behind the stores' own code, and what it told of its changes. */
const openTable = (options: Partial<SimTableOptions> = {}) => {
  const changes: TableChange[] = []
  const table = createSimTable({
    schema: TABLE_SCHEMA,
    tableName: 'sim',
    onChange: (change) => changes.push(change),
    ...options,
  })
  let fault: (() => Error) | undefined
  const sleeps: number[] = []
  const client = asDocumentClient(async (command) => {
    const now = fault
    fault = undefined
    if (now) throw now()
    return table.execute(command)
  })
  const deps = {
    table: { client, name: 'sim' },
    sleep: async (ms: number) => void sleeps.push(ms),
    random: () => 0.5,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  }
  const failOnce = (make: () => Error) => {
    fault = make
  }
  const due = async () => (await queryPage(deps, { index: 'by-due', partition: ['payment', 1], limit: 10 })).items
  return { table, changes, deps, sleeps, failOnce, due }
}

describe('the model’s changes', () => {
  it('are told one by one, with the item before and after', async () => {
    const { deps, changes } = openTable()
    await conditionalWrite(deps, put(KEY, { amount: 1 }, isNew))
    await conditionalWrite(deps, update(KEY, { set: { amount: 2 } }))
    await conditionalWrite(deps, remove(KEY, exists))

    const was = { amount: 1, ...KEY }
    const is = { amount: 2, ...KEY }
    expect(changes).toStrictEqual([
      { sequence: 1, previous: 0, key: KEY, before: undefined, after: was, eventName: 'INSERT' },
      { sequence: 2, previous: 1, key: KEY, before: was, after: is, eventName: 'MODIFY' },
      { sequence: 3, previous: 2, key: KEY, before: is, after: undefined, eventName: 'REMOVE' },
    ])
  })

  it('are none for a write that is refused or changes nothing', async () => {
    const { deps, changes } = openTable()
    const other = { pk: 'PAYMENT#2', sk: 'PAYMENT' }
    await conditionalWrite(deps, put(KEY, { amount: 1, tags: new Set(['a', 'b']) }))
    await conditionalWrite(deps, put(KEY, { tags: new Set(['b', 'a']), amount: 1 }))
    await conditionalWrite(deps, update(KEY, { set: { amount: 1 } }))
    await conditionalWrite(deps, update(KEY, { set: { amount: 2 } }, equals('amount', 9)))
    await conditionalWrite(deps, remove(other, equals('pk', undefined))).catch(() => undefined)
    await transact(deps, { new: put(other, {}, isNew), refused: put(KEY, {}, isNew) })

    expect(changes.map(({ eventName, key }) => [eventName, key])).toStrictEqual([['INSERT', KEY]])
  })

  it('are one for each item of a transaction, in the order of its steps', async () => {
    const { deps, changes } = openTable()
    const event = { pk: KEY.pk, sk: 'EVENT#payment.succeeded' }
    await conditionalWrite(deps, put(KEY, { amount: 1 }))
    await transact(deps, { event: put(event, {}, isNew), payment: update(KEY, { add: { amount: 1 } }) })
    await conditionalWrite(deps, update(event, { set: { seen: true } }))

    expect(changes.map(({ sequence, key, eventName }) => [sequence, key.sk, eventName])).toStrictEqual([
      [1, 'PAYMENT', 'INSERT'],
      [2, event.sk, 'INSERT'],
      [3, 'PAYMENT', 'MODIFY'],
      [4, event.sk, 'MODIFY'],
    ])
    expect(changes.filter((change) => isInsertOf(change, 'EVENT#'))).toStrictEqual([changes[1]])
  })
})

describe('the model’s indexes', () => {
  it('know of a change only when they are told, while the table has it at once', async () => {
    const { deps, table, changes, due } = openTable()
    await conditionalWrite(deps, put(KEY, DUE))
    const before = await due()
    for (const change of changes) table.applyToIndexes(change)
    await conditionalWrite(deps, update(KEY, { remove: ['work'] }))

    expect(before).toStrictEqual([])
    expect(await due()).toStrictEqual([{ ...KEY, ...DUE }])
    expect(await getItem(deps, KEY)).not.toHaveProperty('work')

    for (const change of changes.slice(1)) table.applyToIndexes(change)
    expect(await due()).toStrictEqual([])
  })

  it('may follow at different times', async () => {
    const { deps, table, changes, due } = openTable()
    await conditionalWrite(deps, put(KEY, { ...DUE, clientId: 'c', paidAt: 't' }))
    for (const change of changes) table.applyToIndexes(change, 'by-paid')

    const paid = await queryPage(deps, { index: 'by-paid', partition: ['c'], limit: 10 })
    expect(paid.items).toHaveLength(1)
    expect(await due()).toStrictEqual([])
  })

  it('do not leave out a change of an item, nor take one twice', async () => {
    const { deps, table, changes } = openTable()
    await conditionalWrite(deps, put(KEY, DUE))
    await conditionalWrite(deps, update(KEY, { set: { dueAt: 't2' } }))
    const [first, second] = changes
    if (!first || !second) throw new Error('two changes were made')

    expect(() => table.applyToIndexes(second)).toThrow('in their order')
    table.applyToIndexes(first)
    expect(() => table.applyToIndexes(first)).toThrow('in their order')
    table.applyToIndexes(second)
  })
})

describe('the model', () => {
  it('gives copies of all items in the order of their keys, and the items themselves for reading', async () => {
    const { deps, table } = openTable()
    const other = { pk: 'CLIENT#1', sk: 'CLIENT' }
    await conditionalWrite(deps, put(KEY, { tags: new Set(['a']) }))
    await conditionalWrite(deps, put(other, {}))
    const snapshot = table.snapshot()
    Object(snapshot[1]).tags.add('b')

    expect(table.snapshot()).toStrictEqual([other, { ...KEY, tags: new Set(['a']) }])
    expect(table.items('PAYMENT#')).toStrictEqual([{ ...KEY, tags: new Set(['a']) }])
    expect(table.item(other)).toStrictEqual(other)
  })

  it('leaves keys of a batch read unprocessed on demand, and the stores ask again', async () => {
    const asked: number[] = []
    const { deps, sleeps } = openTable({ unprocessedOf: (count) => (asked.push(count), 2) })
    const keys = ['a', 'b', 'c', 'd'].map((sk) => ({ pk: 'x', sk }))
    for (const key of keys) await conditionalWrite(deps, put(key, {}))

    expect(await getItems(deps, keys)).toStrictEqual(keys)
    expect(asked).toStrictEqual([4, 2, 1])
    expect(sleeps).toHaveLength(2)
  })

  it('forgets a request token after ten minutes', async () => {
    let nowMs = 0
    const { table, deps } = openTable({ nowMs: () => nowMs })
    const add = () =>
      transact({ ...deps, table: { ...deps.table, client: tokened } }, { one: update(KEY, { add: { n: 1 } }) })
    const tokened = asDocumentClient(async (command) => {
      Object(command).input.ClientRequestToken = 'token'
      return table.execute(command)
    })
    const seen: unknown[] = []
    for (const at of [0, 599_999, 600_000]) {
      nowMs = at
      await add()
      seen.push(table.item(KEY)?.['n'])
    }

    expect(seen).toStrictEqual([1, 1, 2])
  })

  it('refuses to guess about what it does not model', async () => {
    const { table } = openTable()
    const command = new PutCommand({
      TableName: 'sim',
      Item: KEY,
      ConditionExpression: 'size(#a) > :v',
      ExpressionAttributeNames: { '#a': 'a' },
      ExpressionAttributeValues: { ':v': 1 },
    })

    expect(() => table.execute(command)).toThrow(expect.objectContaining({ name: 'OutsideModel' }))
    expect(() => table.execute(new Date(0))).toThrow(expect.objectContaining({ name: 'OutsideModel' }))
  })
})

describe('the faults around the model', () => {
  it.each([
    ['a conflict of a single write', conflictOnWrite],
    ['a conflict of a transaction', () => transactionConflict('None', 'TransactionConflict')],
    ['a throttle of a transaction', () => transactionConflict('ThrottlingError')],
  ])('are repeated by the stores: %s', async (_, fault) => {
    const { deps, failOnce, sleeps, table } = openTable()
    failOnce(fault)
    await transact(deps, { one: put(KEY, {}) })

    expect(table.item(KEY)).toStrictEqual(KEY)
    expect(sleeps).toStrictEqual([10])
  })

  it('reach the caller where the SDK has tried already', async () => {
    const { deps, failOnce } = openTable()
    failOnce(throttled)

    await expect(conditionalWrite(deps, put(KEY, {}))).rejects.toThrow(
      expect.objectContaining({ name: 'ThrottlingException' }),
    )
  })
})
