import { describe, expect, it } from 'vitest'
import { equals, exists, isNew } from '../../../shared/table/condition.ts'
import { check, put, remove, type Step, update } from '../../../shared/table/step.ts'
import { INVALID } from './table-backend.ts'
import { aKey, type Key, type TableCommands } from './table-commands.ts'

const APPLIED = { applied: true }
const refusedAt = (at: number, item?: object) => ({ applied: false, refusedAt: at, item })

/** Two items, one of which is there. */
const prepare = async (commands: TableCommands) => {
  const there: Key = aKey()
  const missing: Key = aKey()
  await commands.put(there, { amount: 1 })
  return { ...commands, there, missing }
}

export const transactionsConformance = (open: () => TableCommands): void => {
  describe('a transaction', () => {
    it('does all its steps', async () => {
      const { transact, get, there, missing } = await prepare(open())
      const [updated, checked, removed] = [aKey(), aKey(), aKey()]
      await transact([put(checked, {}, isNew), put(removed, {}, isNew)])

      const outcome = await transact([
        put(missing, { amount: 2 }, isNew),
        update(there, { add: { amount: 5 } }, equals('amount', 1)),
        update(updated, { set: { a: 'made' } }),
        check(checked, exists),
        remove(removed, exists),
      ])

      expect(outcome).toStrictEqual(APPLIED)
      expect(await Promise.all([missing, there, updated, checked, removed].map(get))).toStrictEqual([
        { amount: 2, ...missing },
        { amount: 6, ...there },
        { a: 'made', ...updated },
        checked,
        undefined,
      ])
    })

    it('does nothing when one step is refused, and says which with the item as it was', async () => {
      const { transact, get, there, missing } = await prepare(open())
      const other = aKey()

      const outcome = await transact([
        put(other, {}, isNew),
        update(there, { add: { amount: 5 } }, equals('amount', 2)),
        put(missing, {}, isNew),
      ])

      expect(outcome).toStrictEqual(refusedAt(1, { amount: 1, ...there }))
      expect(await Promise.all([other, there, missing].map(get))).toStrictEqual([
        undefined,
        { amount: 1, ...there },
        undefined,
      ])
    })

    it('names the first of several refused steps, without an item where there is none', async () => {
      const { transact, there, missing } = await prepare(open())

      const first = await transact([put(aKey(), {}), put(there, {}, isNew), check(missing, exists)])
      const second = await transact([check(missing, exists), put(there, {}, isNew)])

      expect(first).toStrictEqual(refusedAt(1, { amount: 1, ...there }))
      expect(second).toStrictEqual(refusedAt(0))
    })

    it.each<readonly [string, (there: Key) => readonly Step[]]>([
      ['two writes', (there) => [put(there, { amount: 2 }), update(there, { set: { amount: 3 } })]],
      ['a check and a write', (there) => [check(there, exists), update(there, { set: { amount: 3 } })]],
    ])('is invalid with one item twice: %s', async (_, steps) => {
      const { transact, get, there } = await prepare(open())

      expect(await transact(steps(there))).toStrictEqual({ error: INVALID })
      expect(await get(there)).toStrictEqual({ amount: 1, ...there })
    })

    it('takes 100 steps and no more, and not none', async () => {
      const { transact } = open()
      const steps = (count: number) => Array.from({ length: count }, () => put(aKey(), {}, isNew))

      expect(await transact(steps(100))).toStrictEqual(APPLIED)
      expect(await transact(steps(101))).toStrictEqual({ error: INVALID })
      expect(await transact([])).toStrictEqual({ error: INVALID })
    })

    const WRONG_TYPES: readonly (readonly [string, Record<string, unknown>])[] = [
      ['a number for a text', { status: 5 }],
      ['an empty text for a number', { slot: '' }],
      ['one of a wrong type before an empty one', { owner: 5, status: '' }],
    ]

    it.each(WRONG_TYPES)('is invalid with an index key of a wrong type: %s', async (_, item) => {
      const { transact } = open()

      const outcome = await transact([put(aKey(), {}), put(aKey(), item)])

      expect(outcome).toStrictEqual({ error: INVALID })
    })

    it.each(WRONG_TYPES)('is refused by a condition even beside an index key of a wrong type: %s', async (_, item) => {
      const { transact, there } = await prepare(open())

      const outcome = await transact([put(aKey(), item), put(there, {}, isNew), put(aKey(), {})])

      expect(outcome).toStrictEqual(refusedAt(1, { amount: 1, ...there }))
    })

    it.each([
      ['an empty index key', { owner: '' }],
      ['an index key that no key can be', { slot: null }],
      ['an empty index key before one of a wrong type', { owner: '', status: 5 }],
    ])('is invalid as a whole with %s', async (_, item) => {
      const { transact, get, missing } = await prepare(open())

      const outcome = await transact([put(missing, {}, isNew), put(aKey(), item)])

      expect(outcome).toStrictEqual({ error: INVALID })
      expect(await get(missing)).toBeUndefined()
    })

    it('writes nothing when an update does not fit its item', async () => {
      const { transact, get, there, missing } = await prepare(open())

      const outcome = await transact([put(missing, {}, isNew), update(there, { add: { amount: new Set(['a']) } })])

      expect(outcome).toStrictEqual({ error: INVALID })
      expect(await Promise.all([missing, there].map(get))).toStrictEqual([undefined, { amount: 1, ...there }])
    })
  })
}
