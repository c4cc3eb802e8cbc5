/**
 * Goal: no rate of rows and no death of a process stops the sync, and the sync reads every row.
 * Method: the fake provider's list of transactions; runs that stop, die, race or are refused; and
 * the state of the jobs afterwards.
 */
import { describe, expect } from 'vitest'
import type { TransactionFilter } from '../../../shared/provider/provider.ts'
import {
  claimJob,
  findDueJobs,
  finishJob,
  keepPosition,
  noteOpenTransaction,
  releaseJob,
  scheduleReading,
} from '../../../shared/sync/job-store.ts'
import { runSyncJobs, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { bookRefund } from '../../support/money-rows.ts'
import {
  creditedPayment,
  expectPayment,
  findingAbout,
  paymentOf,
  rowNow,
  rowOfOtherAttempt,
} from '../../support/synced-payment.ts'
import { interceptTable, linesOf, type TestDeps } from '../../support/test-deps.ts'
import { dyingBefore, foreignRow, syncTest as it, withBacklog } from './sync-test.ts'

describe('sync: the positions of its slices', () => {
  it.for([
    ['server_error', 'provider_silent'],
    ['misconfigured', 'misconfigured'],
    ['refused', 'refused'],
    // This page says that there are more rows.
    ['an empty page', 'refused'],
  ] as const)(
    'let the next run continue after %s, log: %s',
    async ([reason, end], { deps, rows, credited, sync }) => {
      rows.push(rowNow(deps, credited))
      const { listings, state } = await withBacklog(deps, 120)
      // After a refused cursor the sync reads the span once more from its beginning.
      const isCursor = reason === 'refused'
      const unansweredListings = isCursor ? [2, 4] : [2]
      const answer =
        reason === 'an empty page'
          ? ({ kind: 'found', value: { transactions: [], hasMore: true } } as const)
          : ({ kind: 'unanswered', reason } as const)
      state.answer = (question) => (unansweredListings.includes(question) ? answer : undefined)

      const stoppedSummary = await sync()
      // A refused slice waits first.
      deps.clock.advance(end === 'refused' ? 240 : 1)
      const resumedSummary = await runSyncJobs(deps, { woken: false })

      expect(stoppedSummary).toMatchObject({ complete: false, until: null })
      expect(resumedSummary).toBeUndefined()
      const [, refusedAfterId, nextAfterId] = listings.map(({ afterId }) => afterId)
      expect(refusedAfterId).toBe(rows.at(-50)?.transactionId)
      expect(nextAfterId).toBe(isCursor ? undefined : refusedAfterId)
      await expectPayment(deps, credited, { feeStatus: 'actual' })
      expect(await findDueJobs(deps, 10)).toStrictEqual([])
      expect(linesOf(deps, 'sync.completed').slice(-2)).toMatchObject([
        { level: 'warn', fields: { end, incomplete: 1 } },
        { level: 'info', fields: { end: 'read', incomplete: 0 } },
      ])
    },
  )

  it('end a run at a page that leads back to an earlier page', async ({ deps, rows, sync }) => {
    const { listings, state } = await withBacklog(deps, 150)
    const positions = [rows.slice(-100, -99), rows.slice(-50, -49)]
    state.answer = (question) => {
      const transactions = positions[question % 2] ?? []
      const isAround = question > 2 && question < 100
      return isAround ? { kind: 'found', value: { transactions, hasMore: true } } : undefined
    }

    expect(await sync()).toMatchObject({ complete: false, until: null })

    expect(listings).toHaveLength(3)
    state.answer = undefined
    deps.clock.advance(240)
    await runSyncJobs(deps, { woken: false })
    expect(await findDueJobs(deps, 10)).toStrictEqual([])
  })

  it('hold up no other job when the provider refuses one of them for days', async ({
    deps,
    paid,
    rows,
    sync,
    syncAfter,
  }) => {
    const refusedAt: number[] = []
    deps.provider.script('listTransactions', async (filter) => {
      if (filter.rows !== 'others') return deps.provider.healthy.listTransactions(filter)
      refusedAt.push(deps.monotonicMs())
      return { kind: 'unanswered', reason: 'refused', code: 'API_VALIDATION_ERROR' }
    })
    for (let run = 0; run < 2 * 24 * 12; run++) await syncAfter(300)
    deps.provider.silence('getPayment')
    rows.push(rowOfOtherAttempt(deps, paid))
    await sync()
    deps.provider.heal('getPayment')
    rows.length = 0

    await syncAfter(300)

    await expectPayment(deps, paid, { status: 'succeeded' })
    const waits = refusedAt.slice(1).map((at, n) => Math.round((at - (refusedAt[n] ?? 0)) / 60_000))
    expect(waits.slice(0, 5)).toStrictEqual([5, 10, 20, 35, 60])
    expect(Math.min(...waits.slice(5))).toBe(60)
    deps.clock.advance(3_600)
    const dueIds = (await findDueJobs(deps, 50)).map(({ id }) => id)
    expect(dueIds.filter((id) => id.startsWith('others'))).toHaveLength(1)
  })

  it('move past a row whose check fails, at any age', async ({ deps, client, rows, credited }) => {
    const otherPayment = await creditedPayment(deps, client)
    rows.push(
      ...[otherPayment, credited].map((paid) =>
        rowNow(deps, paid, { updatedAt: addMs(deps.now(), -3 * DAY_MS - 1) }),
      ),
    )
    const failing = dyingBefore(deps, credited.payment.paymentId)

    const summary = await syncProviderTransactions(failing)
    const findFinding = () =>
      findingAbout(deps, rows.at(-1)?.transactionId ?? '', 'transaction_unexplained')
    const findingBefore = await findFinding()
    for (const runDeps of [failing, deps]) {
      deps.clock.advance(310)
      await runSyncJobs(runDeps, { woken: false })
    }

    expect(summary).toMatchObject({ unanswered: 1, complete: true })
    await expectPayment(deps, otherPayment, { feeStatus: 'actual' })
    expect([findingBefore, (await findFinding())?.status]).toStrictEqual([undefined, 'open'])
    await expectPayment(deps, credited, { feeStatus: 'actual' })
  })

  it('move past a row with write conflicts, which is checked again', async ({
    deps,
    rows,
    credited,
    syncAfter,
  }) => {
    const { pk } = paymentKey(credited.payment.paymentId)
    const overtaken = interceptTable(deps, {
      before: async (call) => {
        if (call.name !== 'transact' || !call.steps.some(({ key }) => key.pk === pk)) return
        await bookRefund(deps, await paymentOf(deps, credited), 1_000)
      },
    })
    rows.push(rowNow(deps, credited))

    const summary = await syncProviderTransactions(overtaken)
    await syncAfter(600)

    expect(summary).toMatchObject({ unanswered: 1, complete: true })
    await expectPayment(deps, credited, { feeStatus: 'actual', providerFeeMinor: 4_440 })
  })

  it('belong to the newest worker: the previous worker cannot write a slice', async ({
    deps,
    sync,
  }) => {
    const { due, claimed: first } = await claimRest(deps, sync)
    deps.clock.advance(299)
    expect(await findDueJobs(deps, 10)).toStrictEqual([])
    deps.clock.advance(1)
    const [overdue] = await findDueJobs(deps, 10)
    const second = overdue && (await claimJob(deps, overdue))
    if (second?.kind !== 'head') throw new Error('the slice was not claimed again')

    expect(await claimJob(deps, due)).toBeUndefined()
    expect(await keepPosition(deps, first, { afterId: 'txn' })).toBeUndefined()
    const lateWrites = [
      releaseJob(deps, first, deps.now()),
      finishJob(deps, first),
      scheduleReading(deps, first, deps.now()),
    ]
    for (const write of lateWrites) expect(await write).toMatchObject({ applied: false })
    expect(await keepPosition(deps, second, { afterId: 'txn' })).toMatchObject({ afterId: 'txn' })
  })

  it('are not complete while another worker has one of them', async ({ deps, sync }) => {
    const { claimed } = await claimRest(deps, sync)
    // More rows than one query answers wait less long than the lease.
    for (let n = 0; n < 1_000; n++)
      await noteOpenTransaction(deps, foreignRow(deps.now()), addMs(deps.now(), 1))

    expect(await sync()).toMatchObject({ complete: false })
    await finishJob(deps, claimed)
    expect(await sync()).toMatchObject({ complete: true })
  })

  it('are not read again by the planner when another worker has claimed them', async ({
    deps,
    sync,
  }) => {
    const listings: TransactionFilter[] = []
    deps.provider.before('listTransactions', async (filter) => {
      listings.push(filter)
      if (listings.length === 1) await runSyncJobs(deps, { woken: false })
    })

    const summary = await sync()

    // 28 slices of six hours, the reversals, and the other types.
    expect(listings).toHaveLength(30)
    const createdFrom = addMs(deps.now(), -180 * DAY_MS)
    expect(listings.slice(28)).toMatchObject([{ createdFrom }, { createdFrom }])
    expect(summary).toMatchObject({ complete: false, until: deps.now() })
  })
})

/** The rest of a round becomes a job after its first page, and a worker claims it. */
async function claimRest(deps: TestDeps, sync: () => Promise<unknown>) {
  const { state } = await withBacklog(deps, 120)
  state.answer = (question) =>
    question > 1 ? { kind: 'unanswered', reason: 'unreachable' } : undefined
  await sync()
  state.answer = undefined
  const [due] = await findDueJobs(deps, 10)
  const claimed = due && (await claimJob(deps, due))
  if (due === undefined || claimed?.kind !== 'head') throw new Error('no slice was claimed')
  return { due, claimed }
}

it.for([
  [239_999, true],
  [240_000, false],
] as const)(
  'sync waits within its run for the end of a pause of %d ms: %s',
  async ([pauseMs, isAwaited], { deps, rows, credited }) => {
    rows.push(rowNow(deps, credited))
    const { listings, state } = await withBacklog(deps, 120)
    let roomAtMs = 0
    deps.provider.script('pauseMs', () => Math.max(0, roomAtMs - deps.monotonicMs()))
    state.answer = (question) => {
      if (question !== 2) return undefined
      roomAtMs = deps.monotonicMs() + pauseMs
      return { kind: 'unanswered', reason: 'rate_limited' }
    }
    const sleeps: number[] = []
    const sleep = (ms: number) => {
      sleeps.push(ms)
      return deps.sleep(ms)
    }

    const summary = await syncProviderTransactions({ ...deps, sleep })
    deps.clock.advance(isAwaited ? 0 : 240)
    await runSyncJobs(deps, { woken: false })

    expect([summary.complete, sleeps]).toStrictEqual([isAwaited, isAwaited ? [pauseMs] : []])
    expect(listings[2]).toStrictEqual(listings[1])
    await expectPayment(deps, credited, { feeStatus: 'actual' })
  },
)
