import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueTurns } from '../../shared/due-work/drain-slot.ts'
import { maxWorkers } from '../../shared/due-work/due-slot.ts'
import { itHoldsFor } from './it-holds-for.ts'

type Item = { readonly owner: string; readonly number: number }

const turnsOf = (items: readonly Item[]) => {
  const turns = dueTurns<Item>(({ owner }) => owner)
  for (const item of items) turns.add(item)
  return turns
}

const anItem = fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), number: fc.nat() })
const someItems = fc.array(anItem, { maxLength: 60 })

const most = fc.integer({ min: 1, max: 9 })

describe('dueTurns', () => {
  itHoldsFor(someItems, most)('gives every owner one of every round, in order, and loses nothing', (items, count) => {
    const turns = turnsOf(items)
    const taken: Item[] = []
    while (turns.owners > 0) taken.push(...turns.take(count))

    const of = (owner: string, some: readonly Item[]) => some.filter((item) => item.owner === owner)
    for (const owner of ['a', 'b', 'c', 'd']) expect(of(owner, taken)).toStrictEqual(of(owner, items))
    for (const [at, { owner }] of taken.entries()) {
      const before = of(owner, taken.slice(0, at)).length
      const others = new Set(taken.slice(at).map((item) => item.owner))
      for (const other of others) expect(of(other, taken.slice(0, at)).length).toBeGreaterThanOrEqual(before - 1)
    }
  })

  itHoldsFor(someItems, most)('puts back a taken item unchanged', (items, count) => {
    const [turns, untouched] = [turnsOf(items), turnsOf(items)]

    const first = turns.take(count)
    turns.putBack(first)

    expect(turns.take(first.length)).toStrictEqual(untouched.take(first.length))
  })

  it('holds a limited number of one owner', () => {
    const turns = turnsOf(Array.from({ length: 500 }, (_, number) => ({ owner: 'a', number })))

    expect(turns.add({ owner: 'a', number: 500 })).toBe(false)
    expect(turns.add({ owner: 'b', number: 0 })).toBe(true)
  })
})

it('a run starts at most one worker for each part of each slot', () => {
  expect([maxWorkers('alert', 60), maxWorkers('payment', 60)]).toStrictEqual([2, 32])
})
