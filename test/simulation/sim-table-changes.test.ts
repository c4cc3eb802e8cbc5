import { describe, expect, it } from 'vitest'
import { retryingTable } from '../../shared/runtime/aws/retrying-table.ts'
import { equals, exists, isNew } from '../../shared/table/condition.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { check, put, remove, update } from '../../shared/table/step.ts'
import { timestampOf } from '../../shared/time.ts'
import { memoryRequests } from './sim-table/memory-requests.ts'
import { createSimTable, type SimTableOptions } from './sim-table/sim-table.ts'
import { isInsertOf } from './sim-table/stream-record.ts'
import type { TableChange } from './sim-table/table-change.ts'
import { conflictOnWrite, throttled, transactionConflict } from './sim-table/table-errors.ts'

const KEY = { pk: 'PAYMENT#1', sk: 'PAYMENT' }
const DUE = { work: 'payment', slot: 1, dueAt: 't1', id: 'a' }

/** A model behind the adapter's own retries, and what it told of its changes. */
const openTable = (options: Partial<SimTableOptions> = {}) => {
  const changes: TableChange[] = []
  const model = createSimTable({ schema: TABLE_SCHEMA, onChange: (change) => changes.push(change), ...options })
  let fault: (() => Error) | undefined
  const sleeps: number[] = []
  const requests = memoryRequests(model, async (_, run) => {
    const now = fault
    fault = undefined
    if (now) throw now()
    return run()
  })
  const table = retryingTable(requests, {
    now: () => timestampOf(0),
    sleep: async (ms: number) => void sleeps.push(ms),
    random: () => 0.5,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  })
  const failOnce = (make: () => Error) => {
    fault = make
  }
  const due = async () => (await table.query({ index: 'by-due', partition: ['payment', 1], limit: 10 })).items
  return { model, changes, table, sleeps, failOnce, due }
}

describe('the model’s changes', () => {
  it('are told one by one, with the item before and after', async () => {
    const { table, changes } = openTable()
    await table.write(put(KEY, { amount: 1 }, isNew))
    await table.write(update(KEY, { set: { amount: 2 } }))
    await table.write(remove(KEY, exists))

    const was = { amount: 1, ...KEY }
    const is = { amount: 2, ...KEY }
    expect(changes).toStrictEqual([
      { sequence: 1, previous: 0, key: KEY, before: undefined, after: was, eventName: 'INSERT' },
      { sequence: 2, previous: 1, key: KEY, before: was, after: is, eventName: 'MODIFY' },
      { sequence: 3, previous: 2, key: KEY, before: is, after: undefined, eventName: 'REMOVE' },
    ])
  })

  it('are none for a write that is refused or changes nothing', async () => {
    const { table, changes } = openTable()
    const other = { pk: 'PAYMENT#2', sk: 'PAYMENT' }
    await table.write(put(KEY, { amount: 1, tags: new Set(['a', 'b']) }))
    await table.write(put(KEY, { tags: new Set(['b', 'a']), amount: 1 }))
    await table.write(update(KEY, { set: { amount: 1 } }))
    await table.write(update(KEY, { set: { amount: 2 } }, equals('amount', 9)))
    await table.write(remove(other, equals('pk', undefined))).catch(() => undefined)
    await table.transact({ new: put(other, {}, isNew), refused: put(KEY, {}, isNew) })

    expect(changes.map(({ eventName, key }) => [eventName, key])).toStrictEqual([['INSERT', KEY]])
  })

  it('are one for each item of a transaction, in the order of its steps', async () => {
    const { table, changes } = openTable()
    const event = { pk: KEY.pk, sk: 'EVENT#payment.succeeded' }
    await table.write(put(KEY, { amount: 1 }))
    await table.transact({ event: put(event, {}, isNew), payment: update(KEY, { add: { amount: 1 } }) })
    await table.write(update(event, { set: { seen: true } }))

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
    const { table, model, changes, due } = openTable()
    await table.write(put(KEY, DUE))
    const before = await due()
    for (const change of changes) model.applyToIndexes(change)
    await table.write(update(KEY, { remove: ['work'] }))

    expect(before).toStrictEqual([])
    expect(await due()).toStrictEqual([{ ...KEY, ...DUE }])
    expect(await table.get(KEY)).not.toHaveProperty('work')

    for (const change of changes.slice(1)) model.applyToIndexes(change)
    expect(await due()).toStrictEqual([])
  })

  it('may follow at different times', async () => {
    const { table, model, changes, due } = openTable()
    await table.write(put(KEY, { ...DUE, clientId: 'c', paidAt: 't' }))
    for (const change of changes) model.applyToIndexes(change, 'by-paid')

    const paid = await table.query({ index: 'by-paid', partition: ['c'], limit: 10 })
    expect(paid.items).toHaveLength(1)
    expect(await due()).toStrictEqual([])
  })

  it('do not leave out a change of an item, nor take one twice', async () => {
    const { table, model, changes } = openTable()
    await table.write(put(KEY, DUE))
    await table.write(update(KEY, { set: { dueAt: 't2' } }))
    const [first, second] = changes
    if (!first || !second) throw new Error('two changes were made')

    expect(() => model.applyToIndexes(second)).toThrow('in their order')
    model.applyToIndexes(first)
    expect(() => model.applyToIndexes(first)).toThrow('in their order')
    model.applyToIndexes(second)
  })
})

describe('the model', () => {
  it('gives copies of all items in the order of their keys, and the items themselves for reading', async () => {
    const { table, model } = openTable()
    const other = { pk: 'CLIENT#1', sk: 'CLIENT' }
    await table.write(put(KEY, { tags: new Set(['a']) }))
    await table.write(put(other, {}))
    const snapshot = model.snapshot()
    Object(snapshot[1]).tags.add('b')

    expect(model.snapshot()).toStrictEqual([other, { ...KEY, tags: new Set(['a']) }])
    expect(model.items('PAYMENT#')).toStrictEqual([{ ...KEY, tags: new Set(['a']) }])
    expect(model.item(other)).toStrictEqual(other)
  })

  it('leaves keys of a batch read unprocessed on demand, and the stores ask again', async () => {
    const asked: number[] = []
    const { table, sleeps } = openTable({ unprocessedOf: (count) => (asked.push(count), 2) })
    const keys = ['a', 'b', 'c', 'd'].map((sk) => ({ pk: 'x', sk }))
    for (const key of keys) await table.write(put(key, {}))

    expect(await table.getMany(keys)).toStrictEqual(keys)
    expect(asked).toStrictEqual([4, 2, 1])
    expect(sleeps).toHaveLength(2)
  })

  it('refuses to guess about what it does not model', async () => {
    const { table } = openTable()
    await table.write(put(KEY, { amount: Number.MAX_SAFE_INTEGER }))
    const outside = expect.objectContaining({ name: 'OutsideModel' })

    await expect(table.write(update(KEY, { add: { amount: 1 } }))).rejects.toThrow(outside)
    await expect(table.write(put(KEY, { amount: 1n }))).rejects.toThrow(outside)
    await expect(table.write(check(KEY, exists))).rejects.toThrow(outside)
  })
})

describe('the faults around the model', () => {
  it.each([
    ['a conflict of a single write', conflictOnWrite],
    ['a conflict of a transaction', () => transactionConflict('None', 'TransactionConflict')],
    ['a throttle of a transaction', () => transactionConflict('ThrottlingError')],
  ])('are repeated by the stores: %s', async (_, fault) => {
    const { table, failOnce, sleeps, model } = openTable()
    failOnce(fault)
    await table.transact({ one: put(KEY, {}) })

    expect(model.item(KEY)).toStrictEqual(KEY)
    expect(sleeps).toStrictEqual([10])
  })

  it('reach the caller where the SDK has tried already', async () => {
    const { table, failOnce } = openTable()
    failOnce(throttled)

    await expect(table.write(put(KEY, {}))).rejects.toThrow(expect.objectContaining({ name: 'ThrottlingException' }))
  })
})
