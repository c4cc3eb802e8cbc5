import { describe, expect, it } from 'vitest'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { exists, guard, put, update } from '../../../shared/table/step.ts'

const KEY = { pk: 'PAYMENT#1', sk: 'PAYMENT' }
const DUE = { work: 'payment', slot: 1, dueAt: 't1', id: 'a' }

/** A model, and what it told of its changes. */
const openTable = () => {
  const changes: TableChange[] = []
  const model = createMemoryTable({ onChange: (change) => changes.push(change) })
  const due = () => model.requests.query({ index: 'by-due', partition: ['payment', 1], limit: 10 }).items
  const follow = (from = 0) => changes.slice(from).forEach((change) => model.applyToIndexes(change))
  return { due, follow, ...model.requests }
}

describe('the model’s indexes', () => {
  it('get a change only when told to, while the table has it at once', () => {
    const { write, get, due, follow } = openTable()
    write(put(KEY, DUE))
    const before = due()
    follow()
    write(update(KEY, { remove: ['work'] }))

    expect(before).toStrictEqual([])
    expect(due()).toStrictEqual([{ ...KEY, ...DUE }])
    expect(get(KEY)).not.toHaveProperty('work')

    follow(1)
    expect(due()).toStrictEqual([])
  })
})

describe('the model', () => {
  it('refuses to guess about what it does not model', () => {
    const { write, transact } = openTable()
    write(put(KEY, { amount: Number.MAX_SAFE_INTEGER }))
    const outside = expect.objectContaining({ name: 'OutsideModel' })
    const large = Array.from({ length: 11 }, (_, at) => put({ pk: KEY.pk, sk: String(at) }, { a: 'x'.repeat(400_000) }))

    expect(() => write(update(KEY, { add: { amount: 1 } }))).toThrow(outside)
    expect(() => write(guard(KEY, exists))).toThrow(outside)
    expect(() => transact(large)).toThrow(outside)
  })
})
