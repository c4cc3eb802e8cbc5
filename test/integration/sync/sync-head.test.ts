import { describe, expect } from 'vitest'
import { setSyncBack } from '../../../infra/operate/restore/restore-store.ts'
import { minor } from '../../../shared/money.ts'
import { recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { findDueJobs } from '../../../shared/sync/job-store.ts'
import { runSyncJobs, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import {
  expectPayment,
  expectSuspense,
  expectUnexplained,
  rowNow,
} from '../../support/synced-payment.ts'
import { erase } from '../../support/tampering.ts'
import {
  beforeFirst,
  interceptTable,
  recordTable,
  type TableCall,
  type TestDeps,
  writesTo,
  writtenKeys,
} from '../../support/test-deps.ts'
import { syncTest as it, recordListings, withBacklog } from './sync-test.ts'

const HEAD = syncJobKey('head')

describe('sync: the head', () => {
  it('first reads the last seven days until now, in 28 slices', async ({ deps, sync }) => {
    const { listings } = recordListings(deps)

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
    expect(await deps.table.get(HEAD)).toMatchObject({ provider: 'xendit' })
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
    const { listings } = recordListings(deps)
    rows.push(rowNow(deps, credited, { updatedAt: addMs(first, -2 * MINUTE_MS) }))

    await syncAfter(300)

    expect(listings).toMatchObject([
      { updatedFrom: addMs(first, -2 * MINUTE_MS), updatedTo: deps.now() },
    ])
    await expectPayment(deps, credited, { feeStatus: 'actual' })
  })

  it('reads the last hour, and a day again, after a worker whose clock was ahead', async ({
    deps,
    paid,
    credited,
    sync,
  }) => {
    const now = deps.now()
    deps.clock.advance(9 * 86_400)
    await sync()
    deps.clock.set(now)
    const row = rowNow(deps, paid)
    deps.clock.advance(3_600)
    const createdAt = addMs(now, -1.5 * DAY_MS)
    await sync(row, rowNow(deps, credited, { createdAt, updatedAt: createdAt }))
    await expectPayment(deps, paid, { status: 'succeeded' })
    await expectPayment(deps, credited, { feeStatus: 'actual' })
    expect(await deps.table.get(HEAD)).toMatchObject({ reversalsAt: addMs(deps.now(), DAY_MS) })
  })

  it('writes nothing but the head for a round of one page', async ({ deps, rows, credited }) => {
    await withBacklog(deps, 49)
    rows.push(rowNow(deps, credited))
    const { deps: recorded, calls } = recordTable(deps)

    expect(await syncProviderTransactions(recorded)).toMatchObject({ complete: true })

    const written = writtenKeys(calls).filter(({ pk }) => pk === HEAD.pk)
    expect(written).toStrictEqual([HEAD])
    await expectPayment(deps, credited, { feeStatus: 'actual' })
  })

  it.for([
    [49, 'update', 'before', 49],
    [49, 'update', 'after', 0],
    [120, 'transact', 'before', 120],
    [120, 'transact', 'after', 70],
    [120, 'transact', 'restored', 120],
  ] as const)(
    'of %d rows reads no row too few after a crash or a restore (%s, %s)',
    async ([count, kind, when, left], { deps, rows, syncAfter }) => {
      const { listings } = await withBacklog(deps, count)
      // Older than the two minutes that the next round reads again.
      const older = rows.map((row) => ({ ...row, updatedAt: addMs(row.updatedAt, -150_000) }))
      rows.splice(0, count, ...older)
      const isMove = ({ name, ...call }: TableCall) =>
        name === kind && 'steps' in call && call.steps[0]?.key.pk === HEAD.pk
      const crash = async (call: TableCall) => {
        if (!isMove(call)) return
        const lost = when === 'restored' && 'steps' in call ? call.steps.slice(1) : []
        for (const { key } of lost) await erase(deps, key)
        throw new Error('the process ends here')
      }
      const at = when === 'before' ? 'before' : 'after'
      await expect(syncProviderTransactions(interceptTable(deps, { [at]: crash }))).rejects.toThrow(
        'the process ends here',
      )
      if (when === 'restored') await setSyncBack(deps.table)
      const before = listings.length

      const { transactions, complete } = await syncAfter(300)

      expect(complete).toBe(true)
      expect(listings.length).toBeGreaterThan(before)
      expect(transactions).toBe(left)
    },
  )

  it.for([0, 49, 120])(
    'of %d rows (0: the first) leaves a round to the worker that moved the head first',
    async (count, { deps, rows, credited }) => {
      if (count > 0) await withBacklog(deps, count)
      rows.push(rowNow(deps, credited))
      const kind = count === 49 ? 'update' : 'transact'
      const raced = beforeFirst(
        deps,
        (call) => call.name === kind && writesTo(HEAD)(call),
        () => syncProviderTransactions(deps),
      )

      expect(await syncProviderTransactions(raced)).toMatchObject({ until: null, complete: false })

      expect(deps.lines.at(-1)).toMatchObject({ fields: { end: 'overtaken', incomplete: 0 } })
      expect(await deps.table.get(HEAD)).toMatchObject({ round: count > 0 ? 2 : 1 })
      await expectPayment(deps, credited, { feeStatus: 'actual' })
    },
  )

  it('records a finding for an unreadable row, and reads the rows after it', async ({
    deps,
    credited,
    sync,
  }) => {
    const id = 'txn_odd'
    const oddPage = { transactions: [], unreadableIds: [id], hasMore: true, afterId: id }
    const lastPage = { transactions: [rowNow(deps, credited)], hasMore: false }
    deps.provider.script('listTransactions', async ({ afterId, rows }) => ({
      kind: 'found',
      value: afterId === undefined && rows !== 'reversed' ? oddPage : lastPage,
    }))

    expect((await sync()).complete).toBe(true)
    await expectUnexplained(deps, id)
    await expectPayment(deps, credited, { feeStatus: 'actual' })
  })

  it('credits by a row with an unknown fee status, and records a finding', async ({
    deps,
    credited,
    paid,
    sync,
  }) => {
    const unknown = { ...NOT_SETTLED, hasUnknownMember: true } as const
    const rows = [rowNow(deps, paid, unknown), rowNow(deps, credited, unknown)]

    await sync(...rows)

    await expectPayment(deps, paid, { status: 'succeeded' })
    await expectPayment(deps, credited, { feeStatus: 'estimated' })
    for (const { transactionId } of rows) {
      await expectUnexplained(deps, transactionId)
    }
  })

  it.for([
    [true, 'open'],
    [false, 'resolved'],
  ])(
    'leaves the item of money that is credited after all (row booked on it: %s) %s',
    async ([isBooked, status], { deps, credited, sync }) => {
      const { providerPaymentId } = credited
      await recordSuspense(deps, {
        ...someHeldMoney(deps, providerPaymentId, 100_000),
        ...(isBooked && { providerMinor: minor(95_560) }),
      })

      await sync(rowNow(deps, credited))

      const resolution = isBooked ? undefined : { resolution: 'credited' }
      await expectSuspense(deps, providerPaymentId, { status, ...resolution })
      await expectPayment(deps, credited, { feeStatus: 'actual' })
    },
  )

  it.for([
    [300, 6_000, 9],
    [300, 60_000, 28],
    [21_480, 600, 1],
    [21_481, 600, 2],
    [864_000, 600, 28],
  ] as const)(
    'reads a round after %d s, at a quota of %d calls, in %d slices',
    async ([seconds, providerCallsPerMinute, slices], { deps, sync }) => {
      await sync()
      const { listings } = recordListings(deps)
      deps.clock.advance(seconds)

      await syncProviderTransactions({ ...deps, stage: { ...deps.stage, providerCallsPerMinute } })

      expect(listings).toHaveLength(slices)
    },
  )

  it.for([
    // After 20 seconds the new slice and 24 of the 30 due jobs are read.
    [800, 600, 6, 0],
    // After 240 seconds the new slice and 23 of the due jobs are read.
    [10_000, 600, 9, 7],
    // After 20 seconds 2 of 28 new slices are read, after 240 seconds 24, and the next is begun.
    [10_000, 60_000, 56, 33],
  ] as const)(
    'at %d ms a page and a quota of %d calls, wakes %d workers, at most one for each due job, and leaves %d jobs at its time limit',
    async ([pageMs, providerCallsPerMinute, helpers, leftJobs], { deps, sync }) => {
      const dueAt = deps.now()
      const { state } = recordListings(deps)
      state.answer = () => ({ kind: 'unanswered', reason: 'unreachable' })
      await sync()
      state.answer = undefined
      const stage = { ...deps.stage, providerCallsPerMinute }

      await syncProviderTransactions({ ...withSlowPages(deps, pageMs), stage })

      expect(deps.sent).toMatchObject(
        Array.from({ length: helpers }, () => ({ queue: 'sync', message: { body: {} } })),
      )
      const left = await findDueJobs(deps, 50)
      expect(left.filter((job) => job.dueAt === dueAt)).toHaveLength(leftJobs)
    },
  )

  it('reads a slice that is longer than a run by a worker that the next run wakes', async ({
    deps,
  }) => {
    await withBacklog(deps, 1_500)
    const slow = withSlowPages(deps, 10_000)

    await syncProviderTransactions(slow)
    const sentFirst = deps.sent.length
    deps.clock.advance(60)
    await syncProviderTransactions(slow)

    expect([sentFirst, deps.sent.length]).toStrictEqual([0, 1])
    await runSyncJobs(slow, { woken: false })
    // Each of the two rounds left six pages of the same rows.
    expect(deps.lines.at(-1)).toMatchObject({ fields: { end: 'read', transactions: 600 } })
  })

  it.for([
    [1_680, 1],
    [1_681, 2],
  ] as const)(
    'whose provider does not answer, %d s after the last round, is at round %d',
    async ([seconds, round], { deps, syncAfter }) => {
      const { state } = await withBacklog(deps, 0)
      state.answer = () => ({ kind: 'unanswered', reason: 'unreachable' })

      await syncAfter(seconds - 300)

      expect(await deps.table.get(HEAD)).toMatchObject({ round })
    },
  )
})

function withSlowPages(deps: TestDeps, pageMs: number) {
  const { listTransactions } = deps.provider
  const listSlowly: typeof listTransactions = async (...page) => {
    await deps.sleep(pageMs)
    return listTransactions(...page)
  }
  return { ...deps, provider: { ...deps.provider, listTransactions: listSlowly } }
}
