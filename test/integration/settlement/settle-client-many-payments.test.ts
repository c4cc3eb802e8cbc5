/**
 * Goal: a window of any size settles in one pass over the index and one transaction of two writes, and memory does not
 * grow with it. Method: 5,000 real rows, counted call by call; and a table that makes up 100,000 rows page by page,
 * with the heap measured behind a garbage collection at every tenth.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-statement.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import type { QueryInput, QueryPage } from '../../../shared/table/table.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { queriesIn, recordTable, type TableCall, withRequests, writtenKeys } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { settle, storeSucceeded, succeededPayment, withFloor } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

const queriesOf = (calls: readonly TableCall[]) => queriesIn(calls).filter(({ index }) => index === 'by-owner-paid')

/** Queries that do not go on behind the page before: one pass over the index has one. */
const passesIn = (calls: readonly TableCall[]) => queriesOf(calls).filter(({ cursor }) => cursor === undefined).length

describe('settleClient with many payments in a window', () => {
  it('passes over 5,000 of them once and writes two items; the statement lists every one', async () => {
    const { deps, calls } = recordTable(memoryDeps())
    const client = await withFloor(deps)
    const payments = Array.from({ length: 5_000 }, (_, index) =>
      // Ten in each millisecond, so that pages end within one.
      succeededPayment(client, { paidAt: addMs(deps.now(), Math.floor(index / 10)), notionalMinor: 10_000 + index }),
    )
    await storeSucceeded(deps, payments)
    deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
    calls.length = 0

    const { settlements } = await settle(deps, client)

    const netMinor = payments.reduce((sum, payment) => sum + payment.netMinor, 0)
    expect(settlements).toMatchObject([{ paymentCount: 5_000, grossMinor: 62_497_500, netMinor }])
    expect(passesIn(calls)).toBe(1)
    expect(calls.filter(({ name }) => name === 'transact')).toHaveLength(1)
    // The two of the transaction, and the sums behind each page but the last.
    expect(writtenKeys(calls)).toHaveLength(2 + 2)
    // The client twice and the window three times: before the recredited ones, for the sweep, and before what went back
    // is asked for; and the sums kept so far.
    expect(calls).toHaveLength(queriesOf(calls).length + 7 + 3)

    calls.length = 0
    const { ids, pages } = await wholeStatement(deps, settlements[0]?.settlementId ?? '')
    expect(ids).toStrictEqual(
      payments.toSorted((a, b) => (position(a) < position(b) ? -1 : 1)).map(({ paymentId }) => paymentId),
    )
    // What the provider has paid is looked for in one pass of its own; pages cost nothing but themselves.
    expect(passesIn(calls)).toBe(2)
    expect(queriesOf(calls).filter(({ limit }) => limit === 500)).toHaveLength(pages)
    await expectBalanced(deps, client.clientId)
  }, 60_000)

  it('keeps none of 100,000 rows once they are summed', async () => {
    const deps = memoryDeps()
    const client = await withFloor(deps)
    deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
    const table = aTableOf(100_000, deps)

    const { settlements } = await settle(table.deps, client)

    expect(settlements).toMatchObject([
      { paymentCount: 100_000, grossMinor: 2_000_000_000, providerFeesMinor: 400_000_000, netMinor: 1_598_000_000 },
    ])
    expect([...table.heapAtPage.keys()]).toStrictEqual([2, 10, 20, 30, 40, 50])
    // The rows together take some 40 MB; the heap of the second page is the first with a page behind it.
    const [second = 0, ...later] = table.heapAtPage.values()
    expect(Math.max(...later) - second).toBeLessThan(8_000_000)
    expect(table.transactions).toHaveLength(1)
  }, 60_000)
})

const position = ({ paidAt, paymentId }: { readonly paidAt?: string | undefined; readonly paymentId: string }) =>
  `${paidAt}${paymentId}`

const wholeStatement = async (deps: TestDeps, settlementId: string) => {
  const ids: string[] = []
  let pages = 0
  let cursor: string | undefined
  do {
    const page = await settlementStatement(deps, { settlementId, cursor, format: 'json' })
    if ('payments' in page) ids.push(...page.payments.map(({ payment_id }) => payment_id))
    pages++
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  return { ids, pages }
}

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
  const transactions: unknown[] = []
  const row = (number: number) => ({
    ...paymentKey(uuidOf(number) as Parameters<typeof paymentKey>[0]),
    id: uuidOf(number),
    paidAt: timestampOf(first + Math.floor(number / 2)),
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
  return { deps: withRequests(deps, requests), heapAtPage, transactions }
}
