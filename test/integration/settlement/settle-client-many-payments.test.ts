/**
 * Goal: a window of any size settles in one pass over the index and one transaction of two writes, and memory does not
 * grow with it. Method: a table that makes up 100,000 rows page by page, counts what it is asked, and has the heap
 * measured behind a garbage collection at every tenth page.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { paymentKey } from '../../../shared/table/keys.ts'
import type { QueryInput, QueryPage } from '../../../shared/table/table.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'
import { withRequests } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { settle, withFloor } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

describe('settleClient with many payments in a window', () => {
  it('passes over 100,000 of them once, writes two items, and keeps none once it is summed', async () => {
    const deps = memoryDeps()
    const client = await withFloor(deps)
    deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
    const table = aTableOf(100_000, deps)

    const { settlements } = await settle(table.deps, client)

    expect(settlements).toMatchObject([
      { paymentCount: 100_000, grossMinor: 2_000_000_000, providerFeesMinor: 400_000_000, netMinor: 1_598_000_000 },
    ])
    expect(table.passes()).toBe(1)
    expect([...table.heapAtPage.keys()]).toStrictEqual([2, 10, 20, 30, 40, 50])
    // The rows together take some 40 MB; the heap of the second page is the first with a page behind it.
    const [second = 0, ...later] = table.heapAtPage.values()
    expect(Math.max(...later) - second).toBeLessThan(8_000_000)
    expect(table.transactions.map((steps) => steps.length)).toStrictEqual([2])
  }, 60_000)
})

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  Reflect.apply(runInNewContext('gc'), undefined, [])
}

const uuidOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`

/** A table with a real client whose window seems to hold `count` payments. */
const aTableOf = (count: number, deps: TestDeps) => {
  const first = Date.parse(deps.now()) - 2 * DAY_MS
  const heapAtPage = new Map<number, number>()
  let pages = 0
  let passes = 0
  const transactions: (readonly unknown[])[] = []
  const row = (number: number) => ({
    ...paymentKey(uuidOf(number) as Parameters<typeof paymentKey>[0]),
    id: uuidOf(number),
    // Three in each millisecond, so that pages end within one.
    paidAt: timestampOf(first + Math.floor(number / 3)),
    notionalMinor: 20_000,
    providerFeeMinor: 4_000,
    markupMinor: 20,
    netMinor: 15_980,
    feeStatus: 'actual',
  })
  const page = ({ limit, cursor }: QueryInput): QueryPage => {
    const from = cursor ? Number(String(cursor['id']).slice(-12)) + 1 : 0
    const to = Math.min(from + limit, count)
    const items = Array.from({ length: to - from }, (_, index) => row(from + index))
    // As DynamoDB does: a full page always has a key behind it, the last one too.
    return { items, count: items.length, cursor: items.length === limit ? items.at(-1) : undefined }
  }
  const inTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const requests: TestDeps['requests'] = {
    ...deps.requests,
    query: async (input) => {
      await inTurn()
      if (input.index !== 'by-owner-paid') return deps.requests.query(input)
      pages++
      if (input.cursor === undefined) passes++
      if (pages === 2 || pages % 10 === 0) {
        collectGarbage()
        heapAtPage.set(pages, process.memoryUsage().heapUsed)
      }
      return page(input)
    },
    transact: async (steps) => {
      transactions.push(steps)
      return { applied: true }
    },
  }
  return { deps: withRequests(deps, requests), heapAtPage, transactions, passes: () => passes }
}
