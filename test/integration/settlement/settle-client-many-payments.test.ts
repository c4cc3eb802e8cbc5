/**
 * Goal: a window of any size settles in one pass over the journal, and memory does not grow with
 * it. Method: a table that generates 40,000 entries page by page, counts the queries, and measures
 * the heap after a garbage collection at every tenth page.
 */
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { journalPk } from '../../../shared/table/keys.ts'
import type { QueryInput } from '../../../shared/table/table.ts'
import { DAY_MS, timestampOf } from '../../../shared/time.ts'
import { aLoneClient, settle } from '../../support/settlement-builders.ts'
import { type TestDeps, withRequests } from '../../support/test-deps.ts'

function uuidOf(number: number) {
  return `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`
}

function collectGarbage() {
  setFlagsFromString('--expose-gc')
  Reflect.apply(runInNewContext('gc'), undefined, [])
}

/**
 * A table with a real client whose journal seems to hold `count` entries, all of them before the
 * window's last minutes.
 */
function aTableOf(count: number, deps: TestDeps, pk: string) {
  const first = Date.parse(deps.now()) - 2 * DAY_MS
  const heapAtPage = new Map<number, number>()
  const transactions: (readonly unknown[])[] = []
  let pages = 0
  let passes = 0
  const entry = (number: number) => {
    // Three entries have the same millisecond, so that a page can end between them.
    const postedAt = timestampOf(first + Math.floor(number / 3))
    const about = {
      type: 'payment',
      paymentId: uuidOf(number),
      providerTransactionId: `txn_${number}`,
    }
    return {
      pk,
      sk: `${postedAt}#${uuidOf(number)}`,
      postedAt,
      ...about,
      grossMinor: 20_000,
      feeMinor: 4_000,
      markupMinor: 20,
      netMinor: 15_980,
      providerMinor: 16_000,
    }
  }
  const page = ({ limit, cursor, range }: QueryInput) => {
    const [start] = range && 'between' in range ? range.between : []
    const from = cursor
      ? Number(String(cursor['sk']).slice(-12)) + 1
      : String(start) > entry(count).sk
        ? count
        : 0
    const items = Array.from({ length: Math.min(limit, count - from) }, (_, index) =>
      entry(from + index),
    )
    // As in DynamoDB, each full page has a cursor, even the last page.
    return { items, count: items.length, cursor: items.length === limit ? items.at(-1) : undefined }
  }
  const requests: TestDeps['requests'] = {
    ...deps.requests,
    query: async (input) => {
      await setImmediate()
      if (input.partition[0] !== pk) return deps.requests.query(input)
      pages++
      if (input.cursor === undefined) passes++
      if (pages === 3 || pages % 10 === 0) {
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

it('a window of 40,000 entries is read once; three items store its progress and are deleted at the end', async () => {
  const { deps, client } = await aLoneClient()
  deps.clock.pass(2 * DAY_MS)
  const table = aTableOf(40_000, deps, journalPk(client.clientId))

  const { settlement } = await settle(table.deps, client)

  expect(settlement).toMatchObject({
    paymentCount: 40_000,
    entryCount: 40_000,
    grossMinor: 800_000_000,
    feeMinor: 160_000_000,
    netMinor: 639_200_000,
  })
  // One page to begin with, then the whole window, and the window's last minutes twice.
  expect(table.passes()).toBe(4)
  expect([...table.heapAtPage.keys()]).toStrictEqual([3, 10, 20])
  // All rows take some 16 MB. The third page is the first that the test measures.
  const [thirdHeap = 0, ...laterHeaps] = table.heapAtPage.values()
  expect(Math.max(...laterHeaps) - thirdHeap).toBeLessThan(8_000_000)
  // Window, settlement and its event.
  expect(table.transactions.map((steps) => steps.length)).toStrictEqual([3])
})
