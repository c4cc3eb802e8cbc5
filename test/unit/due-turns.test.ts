import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueTurns } from '../../shared/due-work/drain-slot.ts'
import { itHoldsFor } from './it-holds-for.ts'

type Item = { readonly owner: string; readonly number: number }

const turnsOf = (items: readonly Item[]) => {
  const turns = dueTurns<Item>(({ owner }) => owner)
  for (const item of items) turns.add(item)
  return turns
}

describe('dueTurns', () => {
  const anItem = fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), number: fc.nat() })
  itHoldsFor(fc.array(anItem, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }))(
    'puts back a taken item unchanged',
    (items, count) => {
      const [turns, untouched] = [turnsOf(items), turnsOf(items)]

      const first = turns.take(count)
      turns.putBack(first)

      expect(turns.take(first.length)).toStrictEqual(untouched.take(first.length))
    },
  )

  it('holds a limited number of one owner', () => {
    const turns = turnsOf(Array.from({ length: 500 }, (_, number) => ({ owner: 'a', number })))

    expect(turns.add({ owner: 'a', number: 500 })).toBe(false)
    expect(turns.add({ owner: 'b', number: 0 })).toBe(true)
  })
})
