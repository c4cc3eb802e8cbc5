import { describe, expect } from 'vitest'
import { noteDensity } from '../../../shared/sync/head-store.ts'
import { findDueJobs } from '../../../shared/sync/job-store.ts'
import { runSyncJobs, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { syncTest as it, recordListings, withBacklog } from './sync-test.ts'

describe('sync: the head', () => {
  it('first reads the last seven days until now, in 28 slices, and stores no density before that read', async ({
    deps,
    rows,
    sync,
  }) => {
    const { listings } = recordListings(deps, rows)
    expect(await noteDensity(deps, 500)).toMatchObject({ applied: false })

    expect(await sync()).toStrictEqual({
      transactions: 0,
      unanswered: 0,
      until: deps.now(),
      complete: true,
    })
    expect(listings).toHaveLength(28)
    // Each slice begins at the end of the previous slice.
    const starts = listings.map(({ updatedFrom }) => updatedFrom)
    const ends = listings.map(({ updatedTo }) => updatedTo)
    expect(starts).toStrictEqual([addMs(deps.now(), -7 * DAY_MS), ...ends.slice(0, -1)])
    expect(ends.at(-1)).toBe(deps.now())
    expect(await deps.table.get(syncJobKey('head'))).toMatchObject({ provider: 'xendit' })
  })

  it('reads from two minutes before the last read', async ({
    deps,
    rows,
    credited,
    sync,
    syncAfter,
  }) => {
    await sync()
    const first = deps.now()
    const { listings } = recordListings(deps, rows)
    rows.push(rowNow(deps, credited, { updatedAt: addMs(first, -2 * MINUTE_MS) }))

    await syncAfter(300)

    expect(listings).toMatchObject([
      { updatedFrom: addMs(first, -2 * MINUTE_MS), updatedTo: deps.now() },
    ])
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('records a finding for an unreadable row, and reads the rows after it', async ({
    deps,
    credited,
    sync,
  }) => {
    const oddPage = {
      transactions: [],
      unreadableIds: ['txn_odd'],
      hasMore: true,
      afterId: 'txn_odd',
    }
    const lastPage = { transactions: [rowNow(deps, credited)], hasMore: false }
    deps.provider.script('listTransactions', async ({ afterId, reversedOnly }) => ({
      kind: 'found',
      value: afterId === undefined && reversedOnly !== true ? oddPage : lastPage,
    }))

    expect((await sync()).complete).toBe(true)
    expect(await findingAbout(deps, 'txn_odd', 'transaction_unexplained')).toMatchObject({
      status: 'open',
    })
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it.for([
    [600, 9],
    [60_000, 13],
  ] as const)(
    'cuts slices by the last row density; with slow pages and a quota of %d calls it wakes %d workers',
    async ([quota, helpers], { deps, rows, sync }) => {
      const { listings } = await withBacklog(deps, rows, 3_100)
      await sync()
      const firstListings = listings.length
      deps.clock.advance(3_600)
      const stage = { ...deps.stage, providerCallsPerMinute: quota }

      await syncProviderTransactions({ ...withSlowPages(deps, 1_000), stage })

      // 442 rows a minute make fourteen slices of an hour.
      expect(
        new Set(listings.slice(firstListings).map(({ updatedFrom }) => updatedFrom)).size,
      ).toBe(14)
      expect(deps.sent).toMatchObject(
        Array.from({ length: helpers }, () => ({ queue: 'sync', message: { body: {} } })),
      )
    },
  )

  it.for([
    // After 20 seconds the new slice and 24 of the 29 due jobs are read.
    [800, 5, 0],
    // After 240 seconds the new slice and 23 of the due jobs are read.
    [10_000, 9, 6],
  ] as const)(
    'at %d ms a page, wakes %d workers, at most one for each due job, and leaves %d jobs at its time limit',
    async ([pageMs, helpers, leftJobs], { deps, rows, sync }) => {
      const dueAt = deps.now()
      const { state } = recordListings(deps, rows)
      state.answer = () => ({ kind: 'unanswered', reason: 'unreachable' })
      await sync()
      state.answer = undefined

      await syncProviderTransactions(withSlowPages(deps, pageMs))

      expect(deps.sent).toHaveLength(helpers)
      expect((await findDueJobs(deps, 50)).map((job) => job.dueAt)).toStrictEqual(
        Array(leftJobs).fill(dueAt),
      )
    },
  )

  it('reads new rows for deferred callbacks, but not within two minutes of a round', async ({
    deps,
    rows,
    paid,
  }) => {
    const { listings } = await withBacklog(deps, rows, 0)
    rows.push(rowNow(deps, paid))

    await runSyncJobs(deps, { woken: true })
    deps.clock.advance(119)
    await runSyncJobs(deps, { woken: true })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(listings).toHaveLength(1)
  })
})

function withSlowPages(deps: TestDeps, pageMs: number): TestDeps {
  const { listTransactions } = deps.provider
  const listSlowly: typeof listTransactions = async (...page) => {
    await deps.sleep(pageMs)
    return listTransactions(...page)
  }
  return { ...deps, provider: { ...deps.provider, listTransactions: listSlowly } }
}
