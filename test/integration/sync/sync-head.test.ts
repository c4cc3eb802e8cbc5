import { describe, expect } from 'vitest'
import { noteDensity } from '../../../shared/sync/head-store.ts'
import {
  claimJob,
  findDueJobs,
  finishJob,
  noteOpen,
  retryOpen,
} from '../../../shared/sync/job-store.ts'
import { runSyncJobs, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import {
  findingAbout,
  paidUpstream,
  paymentOf,
  rowNow,
  rowOfOtherAttempt,
} from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { foreignRow, syncTest as it, recordListings, withBacklog } from './sync-test.ts'

describe('sync: the head', () => {
  it('first reads the last seven days until now, in 28 slices; before it no density is stored', async ({
    deps,
    rows,
    sync,
  }) => {
    const { asked } = recordListings(deps, rows)
    expect(await noteDensity(deps, 500)).toMatchObject({ applied: false })

    expect(await sync()).toStrictEqual({
      transactions: 0,
      unanswered: 0,
      until: deps.now(),
      complete: true,
    })
    expect(asked).toHaveLength(28)
    // Each slice begins at the end of the previous one.
    const starts = asked.map(({ updatedFrom }) => updatedFrom)
    const ends = asked.map(({ updatedTo }) => updatedTo)
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
    const { asked } = recordListings(deps, rows)
    rows.push(rowNow(deps, credited, { updatedAt: addMs(first, -2 * MINUTE_MS) }))

    await syncAfter(300)

    expect(asked).toMatchObject([
      { updatedFrom: addMs(first, -2 * MINUTE_MS), updatedTo: deps.now() },
    ])
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('records a finding for an unreadable row, and reads the rows after it', async ({
    deps,
    credited,
    sync,
  }) => {
    const odd = { transactions: [], unreadableIds: ['txn_odd'], hasMore: true, afterId: 'txn_odd' }
    const rest = { transactions: [rowNow(deps, credited)], hasMore: false }
    deps.provider.script('listTransactions', async ({ afterId, reversedOnly }) => ({
      kind: 'found',
      value: afterId === undefined && reversedOnly !== true ? odd : rest,
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
      const { asked } = await withBacklog(deps, rows, 3_100)
      await sync()
      const alone = asked.length
      deps.clock.advance(3_600)
      const stage = { ...deps.stage, providerCallsPerMinute: quota }

      await syncProviderTransactions({ ...withSlowPages(deps, 1_000), stage })

      // 442 rows a minute make fourteen slices of an hour.
      expect(new Set(asked.slice(alone).map(({ updatedFrom }) => updatedFrom)).size).toBe(14)
      expect(deps.sent).toMatchObject(
        Array.from({ length: helpers }, () => ({ queue: 'sync', message: { body: {} } })),
      )
    },
  )

  it.for([
    // After 20 seconds the new slice and 24 of the 29 due jobs are read.
    [800, 5, 0],
    // After 240 seconds the new slice and 23 of them are read.
    [10_000, 9, 6],
  ] as const)(
    'at %d ms a page, wakes %d workers, at most one for each due job, and leaves %d jobs at its time limit',
    async ([pageMs, helpers, left], { deps, rows, sync }) => {
      const dueAt = deps.now()
      const { state } = recordListings(deps, rows)
      state.answer = () => ({ kind: 'unanswered', reason: 'unreachable' })
      await sync()
      state.answer = undefined

      await syncProviderTransactions(withSlowPages(deps, pageMs))

      expect(deps.sent).toHaveLength(helpers)
      expect((await findDueJobs(deps, 50)).map((job) => job.dueAt)).toStrictEqual(
        Array(left).fill(dueAt),
      )
    },
  )

  it('reads new rows for deferred callbacks, but not within two minutes of a round', async ({
    deps,
    rows,
    paid,
  }) => {
    const { asked } = await withBacklog(deps, rows, 0)
    rows.push(rowNow(deps, paid))

    await runSyncJobs(deps, { woken: true })
    deps.clock.advance(119)
    await runSyncJobs(deps, { woken: true })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(asked).toHaveLength(1)
  })
})

function withSlowPages(deps: TestDeps, pageMs: number): TestDeps {
  const { listTransactions } = deps.provider
  const after: typeof listTransactions = async (...page) => {
    await deps.sleep(pageMs)
    return listTransactions(...page)
  }
  return { ...deps, provider: { ...deps.provider, listTransactions: after } }
}

function failGetPayment({ provider }: TestDeps) {
  return provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'server_error' }))
}

describe('sync: an unbooked row whose payment the provider does not answer', () => {
  it('is checked again with a doubled wait until the provider answers', async ({
    deps,
    paid,
    sync,
  }) => {
    failGetPayment(deps)
    await sync(rowOfOtherAttempt(deps, paid))
    const asked = () => deps.provider.countOf('getPayment')
    const askedAfterMinutes: number[] = []

    for (let minutes = 1; minutes <= 300; minutes++) {
      const before = asked()
      deps.clock.advance(60)
      if (minutes === 182) deps.provider.heal('getPayment')
      await runSyncJobs(deps, { woken: false })
      if (asked() > before) askedAfterMinutes.push(minutes)
    }

    expect(askedAfterMinutes).toStrictEqual([2, 6, 14, 30, 62, 122, 182])
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(await findDueJobs(deps, 10)).toStrictEqual([])
  })

  it('is checked by its page, not by due jobs after a failed call', async ({
    deps,
    client,
    paid,
    sync,
    syncAfter,
  }) => {
    const both = [
      rowOfOtherAttempt(deps, paid),
      rowOfOtherAttempt(deps, await paidUpstream(deps, client)),
    ]
    deps.clock.advance(90)
    failGetPayment(deps)
    const first = await sync(...both)

    const later = await syncAfter(40 * 3_600)
    const asked = deps.provider.countOf('getPayment')
    deps.provider.heal('getPayment')
    await syncAfter(3_600)

    expect(first).toMatchObject({ unanswered: 2, complete: true })
    expect(later).toMatchObject({ unanswered: 4, complete: true })
    // Each run's page checks both rows. The due jobs of the second run then make no call.
    expect(asked).toBe(4)
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(deps.published).toStrictEqual([])
  })

  it.for([
    ['does not answer', { kind: 'unanswered', reason: 'server_error' }],
    ['shows the request as paid, and no payment', { kind: 'not_found' }],
  ] as const)(
    'is a finding after two days if the provider %s',
    async ([, answer], { deps, paid, sync, syncAfter }) => {
      deps.provider.script('getPayment', async () => answer)
      const finding = () => findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')
      await sync({
        ...rowOfOtherAttempt(deps, paid),
        paymentRequestId: paid.payment.paymentRequestId,
      })
      const before = await finding()

      deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
      const later = await sync()
      const listed = deps.provider.countOf('listTransactions')
      await sync()
      const readAgain = deps.provider.countOf('listTransactions') - listed
      deps.provider.heal('getPayment')
      await syncAfter(3_600)

      expect(before).toBeUndefined()
      // The page, which has the row again, counts it, and so does its job.
      expect(later).toMatchObject({ unanswered: 2, complete: true })
      expect(await finding()).toMatchObject({ status: 'open' })
      // Only the overlap is read again.
      expect(readAgain).toBe(1)
      expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
      expect(await findDueJobs(deps, 10)).toStrictEqual([])
    },
  )

  it('is still checked after the provider refuses the call of another row', async ({
    deps,
    client,
    paid,
    sync,
  }) => {
    failGetPayment(deps)
    const other = await paidUpstream(deps, client)
    await sync(rowOfOtherAttempt(deps, other), rowOfOtherAttempt(deps, paid))
    deps.provider.script('getPayment', async (id, timeoutMs) =>
      id === paid.providerPaymentId
        ? { kind: 'unanswered', reason: 'refused' }
        : deps.provider.healthy.getPayment(id, timeoutMs),
    )

    deps.clock.advance(180)
    await runSyncJobs(deps, { woken: false })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
    expect(await paymentOf(deps, other)).toMatchObject({ status: 'succeeded' })
  })

  it('is not checked while the quota is used up, and is a finding later', async ({
    deps,
    sync,
    syncAfter,
  }) => {
    deps.provider.script('pauseMs', (operation) => (operation === 'getPayment' ? 60_000 : 0))
    const updatedAt = addMs(deps.now(), -3 * DAY_MS)

    await sync({ ...foreignRow(updatedAt), updatedAt })
    const early = [deps.provider.countOf('getPayment'), deps.published.length]
    deps.provider.heal('pauseMs')
    await syncAfter(600)

    expect(early).toStrictEqual([0, 0])
    expect(deps.published).toMatchObject([{ kind: 'suspense.finding' }])
  })

  it('stays due when a worker finishes an older version of its transaction', async ({
    deps,
    paid,
  }) => {
    const early = { ...rowNow(deps, paid), ...NOT_SETTLED }
    const dueNow = { id: `open#${early.transactionId}`, dueAt: deps.now() }
    await noteOpen(deps, early, dueNow.dueAt)
    const job = await claimJob(deps, dueNow)
    if (job?.kind !== 'open') throw new Error('the transaction was not claimed')
    const late = { ...rowNow(deps, paid), transactionId: early.transactionId }

    await noteOpen(deps, late, job.dueAt)
    await noteOpen(deps, { ...early, updatedAt: addMs(early.updatedAt, -1) }, deps.now())

    expect((await finishJob(deps, job)).applied).toBe(false)
    expect((await retryOpen(deps, job, deps.now())).applied).toBe(false)
    deps.clock.advance(301)
    const [due] = await findDueJobs(deps, 10)
    expect(due && (await claimJob(deps, due))).toMatchObject({
      tries: 0,
      transaction: { settledAt: late.settledAt },
    })
  })
})
