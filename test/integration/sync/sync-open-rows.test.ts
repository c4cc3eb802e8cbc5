import { describe, expect } from 'vitest'
import {
  claimJob,
  findDueJobs,
  finishJob,
  noteOpenTransaction,
  renewJob,
} from '../../../shared/sync/job-store.ts'
import { runSyncJobs } from '../../../shared/sync/sync-run.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import {
  expectPayment,
  findingAbout,
  paidUpstream,
  paymentOf,
  rowNow,
  rowOfOtherAttempt,
} from '../../support/synced-payment.ts'
import { alter } from '../../support/tampering.ts'
import { interceptTable, type TestDeps } from '../../support/test-deps.ts'
import { foreignRow, syncTest as it } from './sync-test.ts'

function failGetPayment({ provider }: TestDeps) {
  return provider.silence('getPayment', 'server_error')
}

async function hasEnded(...[deps, paid]: Parameters<typeof paymentOf>) {
  await expectPayment(deps, paid, { status: 'succeeded' })
  expect(await findDueJobs(deps, 10)).toStrictEqual([])
}

describe('sync: an unbooked row whose payment the provider does not answer', () => {
  it('is checked again with a doubled wait until the provider answers', async ({
    deps,
    paid,
    sync,
  }) => {
    failGetPayment(deps)
    await sync(rowOfOtherAttempt(deps, paid))
    const getPaymentCalls = () => deps.provider.countOf('getPayment')
    const askedAfterMinutes: number[] = []

    for (let minutes = 1; minutes <= 300; minutes++) {
      const callsBefore = getPaymentCalls()
      deps.clock.advance(60)
      if (minutes === 182) deps.provider.heal('getPayment')
      await runSyncJobs(deps, { woken: false })
      if (getPaymentCalls() > callsBefore) askedAfterMinutes.push(minutes)
    }

    expect(askedAfterMinutes).toStrictEqual([2, 6, 14, 30, 62, 122, 182])
    await hasEnded(deps, paid)
  })

  it('keeps its wait in a run that does not ask about it', async ({ deps, client, paid, sync }) => {
    failGetPayment(deps)
    const others = [await paidUpstream(deps, client), await paidUpstream(deps, client)]
    const rows = [paid, ...others].map((one) => rowOfOtherAttempt(deps, one))
    await sync(...rows)
    const tries = async () => {
      const jobs = rows.map((row) => deps.table.get(syncJobKey(`open#${row.transactionId}`)))
      return (await Promise.all(jobs)).map((job) => job?.['tries'])
    }

    // The first check of a run is unanswered. The run then asks about no other row.
    deps.clock.advance(180)
    await runSyncJobs(deps, { woken: false })

    expect((await tries()).toSorted((a, b) => Number(a) - Number(b))).toStrictEqual([0, 0, 1])
  })

  it('is checked after fifty others that the index still shows', async ({ deps, sync }) => {
    await sync()
    for (let at = 0; at < 51; at++)
      await noteOpenTransaction(deps, { ...foreignRow(deps.now()), status: 'pending' }, deps.now())
    const { query } = deps.table
    const all = await query({ index: 'by-due', partition: ['sync', 0], limit: 100 })
    const stale: typeof query = async (input) =>
      input.index === 'by-due' ? { ...all, items: all.items.slice(0, input.limit) } : query(input)

    await runSyncJobs({ ...deps, table: { ...deps.table, query: stale } }, { woken: false })

    expect(await findDueJobs(deps, 1)).toStrictEqual([])
  })

  it('is checked by its key, whatever id its job names', async ({
    deps,
    paid,
    sync,
    syncAfter,
  }) => {
    failGetPayment(deps)
    const row = rowOfOtherAttempt(deps, paid)
    await sync(row)
    await alter(deps, syncJobKey(`open#${row.transactionId}`), { id: 'open#altered' })
    deps.provider.heal('getPayment')

    await syncAfter(3_600)

    await hasEnded(deps, paid)
  })

  it('is read again with its hour when its job has credited it before its fee is final', async ({
    deps,
    paid,
    rows,
    sync,
  }) => {
    failGetPayment(deps)
    const row = rowOfOtherAttempt(deps, paid)
    await sync({ ...row, ...NOT_SETTLED })
    deps.provider.heal('getPayment')
    deps.clock.advance(120)
    await runSyncJobs(deps, { woken: false })
    const credited = await paymentOf(deps, paid)

    rows.splice(-1, 1, row)
    deps.clock.pass(5 * DAY_MS)
    await runSyncJobs(deps, { woken: false })

    expect(credited).toMatchObject({ status: 'succeeded', feeStatus: 'estimated' })
    await expectPayment(deps, paid, { feeStatus: 'actual' })
  })

  it.for([
    ['does not answer', { kind: 'unanswered', reason: 'server_error' }],
    ['shows the request as paid, and no payment', { kind: 'not_found' }],
  ] as const)(
    'is a finding after two days if the provider %s',
    async ([, answer], { deps, paid, sync, syncAfter }) => {
      deps.provider.answer('getPayment', answer)
      const finding = () => findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')
      await sync({
        ...rowOfOtherAttempt(deps, paid),
        paymentRequestId: paid.payment.paymentRequestId,
      })
      const findingBefore = await finding()

      deps.clock.pass(2 * DAY_MS)
      const summary = await sync()
      const listCalls = deps.provider.countOf('listTransactions')
      await sync()
      const readAgain = deps.provider.countOf('listTransactions') - listCalls
      deps.provider.heal('getPayment')
      await syncAfter(3_600)

      expect(findingBefore).toBeUndefined()
      // The page, which lists the row again, counts the row. So do the row's job and the second
      // net.
      expect(summary).toMatchObject({ unanswered: 3, complete: true })
      expect(await finding()).toMatchObject({ status: 'open' })
      // Only the overlap is read again.
      expect(readAgain).toBe(1)
      await hasEnded(deps, paid)
    },
  )

  it.for([
    ['refused', 1],
    ['rate_limited', 1],
    ['server_error', 12],
  ] as const)(
    'is asked about although the answer of the row before it is %s, within %i runs',
    async ([reason, runs], { deps, client, paid }) => {
      const otherPayment = await paidUpstream(deps, client)
      const rows = [paid, otherPayment].map((of) => rowOfOtherAttempt(deps, of))
      for (const [at, row] of rows.entries())
        await noteOpenTransaction(deps, { ...row, transactionId: `txn_${at}` }, deps.now())
      deps.provider.script('getPayment', async (id, timeoutMs) =>
        id === paid.providerPaymentId
          ? { kind: 'unanswered', reason }
          : deps.provider.healthy.getPayment(id, timeoutMs),
      )

      for (let run = 0; run < runs; run++) {
        await runSyncJobs(deps, { woken: false })
        deps.clock.advance(300)
      }

      await expectPayment(deps, paid, { status: 'pending' })
      const found = findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')
      expect(await found).toBeUndefined()
      await expectPayment(deps, otherPayment, { status: 'succeeded' })
    },
  )

  it('is not checked while the quota is used up, and is a finding later', async ({
    deps,
    sync,
    syncAfter,
  }) => {
    deps.provider.script('pauseMs', (operation) => (operation === 'getPayment' ? 60_000 : 0))
    const updatedAt = addMs(deps.now(), -3 * DAY_MS)

    await sync({ ...foreignRow(updatedAt), updatedAt })
    const earlyCounts = [deps.provider.countOf('getPayment'), deps.published.length]
    deps.provider.heal('pauseMs')
    await syncAfter(600)

    expect(earlyCounts).toStrictEqual([0, 0])
    expect(deps.published).toMatchObject([{ kind: 'suspense.finding' }])
  })

  it('stays due when a worker finishes an older version of its transaction', async ({
    deps,
    paid,
  }) => {
    const earlyRow = { ...rowNow(deps, paid), ...NOT_SETTLED }
    const dueNow = { id: `open#${earlyRow.transactionId}`, dueAt: deps.now() }
    await noteOpenTransaction(deps, earlyRow, dueNow.dueAt)
    const job = await claimJob(deps, dueNow)
    if (job?.kind !== 'open') throw new Error('the transaction was not claimed')
    const lateRow = { ...rowNow(deps, paid), transactionId: earlyRow.transactionId }

    await noteOpenTransaction(deps, lateRow, job.dueAt)
    await noteOpenTransaction(
      deps,
      { ...earlyRow, updatedAt: addMs(earlyRow.updatedAt, -1) },
      deps.now(),
    )

    expect((await finishJob(deps, job)).applied).toBe(false)
    deps.clock.advance(301)
    const [due] = await findDueJobs(deps, 10)
    expect(due && (await claimJob(deps, due))).toMatchObject({
      tries: 0,
      transaction: { settledAt: lateRow.settledAt },
    })
  })
  it('keeps its newest form when two pages show new forms at once', async ({ deps, paid }) => {
    const row = rowNow(deps, paid)
    const at = (ms: number) => ({ ...row, updatedAt: addMs(row.updatedAt, ms) })
    await noteOpenTransaction(deps, row, deps.now())
    let calls = 0
    const overtaken = interceptTable(deps, {
      before: async () => {
        // After the older page has read the job.
        if (++calls === 3) await renewJob(deps, at(2))
      },
    })

    await renewJob(overtaken, at(1))

    deps.clock.advance(121)
    const [due] = await findDueJobs(deps, 10)
    expect(due && (await claimJob(deps, due))).toMatchObject({
      transaction: { updatedAt: at(2).updatedAt },
    })
  })
})
