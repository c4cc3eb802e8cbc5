import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { drainSlot, roundRobin } from '../../shared/due-work/drain-slot.ts'
import { waitForAttempt } from '../../shared/payment/create/create-payment.ts'
import { retryingTable, type TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import { exists, update } from '../../shared/table/step.ts'
import { addMs } from '../../shared/time.ts'
import { aCreating } from '../support/payment-builders.ts'
import { type MemoryDeps, memoryDeps } from '../support/test-deps.ts'
import { itHoldsFor } from './it-holds-for.ts'

const KEY = { pk: 'PAYMENT#1', sk: 'PAYMENT' }

function contendedTable(deps: MemoryDeps) {
  const requests: TableRequests = {
    ...deps.requests,
    write: () => Promise.reject(new Error('conflict')),
    batchGet: async (keys) => ({ items: [], unprocessed: keys }),
    isContention: () => true,
  }
  return retryingTable(requests, deps)
}

function conflictingWrite(deps: MemoryDeps) {
  return contendedTable(deps).write(update(KEY, { set: { name: 'x' } }, exists))
}
function incompleteBatch(deps: MemoryDeps) {
  return contendedTable(deps).getMany([KEY])
}
async function waiterForAttempt(deps: MemoryDeps) {
  return waitForAttempt(deps, (await aCreating({}, deps)).creating, { remainingMs: () => 1_500 })
}

async function workerWithoutQuota(deps: MemoryDeps) {
  const retryAt = addMs(deps.now(), 5_000)
  await drainSlot(
    deps,
    {
      work: 'payment',
      batchSize: () => 1,
      read: ({ table }, rows) => table.getMany(rows.map(({ pk, sk }) => ({ pk, sk }))),
      check: async () => true,
      admit: async ({ now }, items) => ({
        decisions: items.map(() => (now() >= retryAt ? 'check' : 'wait')),
        retryAt,
      }),
    },
    { slot: 0, part: 0, parts: 1 },
  )
}

it.each<[string, (deps: MemoryDeps) => Promise<unknown>, readonly number[], readonly number[]]>([
  [
    'a write that meets other writers',
    conflictingWrite,
    Array(11).fill(0),
    [20, 40, 80, 160, 320, ...Array(6).fill(400)],
  ],
  [
    'an incomplete batch read',
    incompleteBatch,
    Array(7).fill(0),
    [50, 100, 200, 400, 800, 1_600, 3_200],
  ],
  [
    'a caller of a running attempt',
    waiterForAttempt,
    [50, 100, 200, ...Array(5).fill(250)],
    [100, 200, 400, 500, 500],
  ],
  ['a worker without quota', workerWithoutQuota, [5_000], [5_999]],
])(
  '%s waits between the shortest and the longest time of each try',
  async (_, run, shortest, longest) => {
    const waitsAt = async (random: number) => {
      const waits: number[] = []
      const due = { ...KEY, id: '1', work: 'payment', slot: 0, due_at: '2026-01-01T00:00:00.000Z' }
      const deps = memoryDeps({ random: () => random }, [due])
      const sleep = (ms: number) => {
        if (waits.push(ms) > 50) throw new Error('it waits without end')
        return deps.clock.sleep(ms)
      }
      await Promise.allSettled([run({ ...deps, sleep })])
      return waits
    }

    expect(await waitsAt(0)).toStrictEqual(shortest)
    expect(await waitsAt(1 - Number.EPSILON)).toStrictEqual(longest)
  },
)

type Item = { readonly owner: string; readonly number: number }

function turnsOf(items: readonly Item[]) {
  const turns = roundRobin<Item>(({ owner }) => owner)
  for (const item of items) turns.add(item)
  return turns
}

const anItem = fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), number: fc.nat() })
itHoldsFor(fc.array(anItem, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }))(
  'roundRobin puts back a taken item unchanged',
  (items, count) => {
    const [turns, untouchedTurns] = [turnsOf(items), turnsOf(items)]

    const first = turns.take(count)
    turns.putBack(first)

    expect(turns.take(first.length)).toStrictEqual(untouchedTurns.take(first.length))
  },
)

it('roundRobin holds a limited number of items of one owner', () => {
  const turns = turnsOf(Array.from({ length: 500 }, (_, number) => ({ owner: 'a', number })))

  expect(turns.add({ owner: 'a', number: 500 })).toBe(false)
  expect(turns.add({ owner: 'b', number: 0 })).toBe(true)
})

it('a worker tries an item once a run, also when it reads its slot again for skipped items', async () => {
  const dueAt = '2026-01-01T00:00:00.000Z'
  const rows = Array.from({ length: 600 }, (_, number) => {
    const due = { id: String(number), work: 'payment', slot: 0, due_at: dueAt }
    return { ...KEY, pk: `PAYMENT#${number}`, ...due }
  })
  const deps = memoryDeps({}, rows)
  const tries = new Map<string, number>()

  const drained = await drainSlot(
    deps,
    {
      work: 'payment',
      batchSize: () => 50,
      read: async (_, due) => due.map(({ pk, sk }) => ({ pk, sk, dueAt, owner: 'a' })),
      check: async (_, { id }) => {
        tries.set(id, (tries.get(id) ?? 0) + 1)
        // A check that cannot be tried without end.
        if (tries.get(id) === 3) deps.clock.advance(60)
        throw new Error('it fails')
      },
    },
    { slot: 0, part: 0, parts: 1 },
  )

  expect(drained).toStrictEqual({ done: 0, failed: 600 })
  expect(new Set(tries.values())).toStrictEqual(new Set([1]))
})
