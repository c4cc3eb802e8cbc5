/** A transaction that the provider did not answer about is looked at again by itself, as the provider said it last. */
import { describe, expect } from 'vitest'
import { claimJob, findDueJobs, finishJob, noteOpen, retryOpen } from '../../../shared/sync/job-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import { findingAbout, paymentOf, rowNow, rowOfOtherAttempt } from '../../support/synced-payment.ts'
import { syncTest as it } from './sync-test.ts'

describe('sync: money the provider cannot be asked about', () => {
  it('is asked about again, less and less often, until the answer comes', async ({ deps, rows, paid }) => {
    rows.push(rowOfOtherAttempt(deps, paid))
    deps.clock.advance(90)
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'server_error' }))
    const first = await syncProviderTransactions(deps)

    deps.clock.advance(40 * 3_600)
    const later = await syncProviderTransactions(deps)
    deps.provider.heal('getPayment')
    deps.clock.advance(3_600)
    await syncProviderTransactions(deps)

    expect(first).toMatchObject({ unanswered: 1, complete: true })
    expect(later).toMatchObject({ complete: true })
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(deps.published).toStrictEqual([])
  })

  it('is a finding after two days, and no longer holds the next round back', async ({ deps, rows, paid }) => {
    rows.push(rowOfOtherAttempt(deps, paid))
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'server_error' }))
    await syncProviderTransactions(deps)
    const before = await findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')

    deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
    const later = await syncProviderTransactions(deps)
    const listed = deps.provider.countOf('listTransactions')
    await syncProviderTransactions(deps)

    expect(before).toBeUndefined()
    expect(later).toMatchObject({ unanswered: 0, complete: true })
    const finding = await findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')
    expect(finding).toMatchObject({ status: 'open' })
    // The overlap, and nothing older.
    expect(deps.provider.countOf('listTransactions') - listed).toBe(1)
  })

  it('is credited by what the provider said of it last', async ({ deps, rows, paid }) => {
    rows.push({ ...rowOfOtherAttempt(deps, paid), ...NOT_SETTLED })
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'server_error' }))
    await syncProviderTransactions(deps)
    deps.clock.advance(3_600)
    rows.splice(0, 1, rowOfOtherAttempt(deps, paid))
    await syncProviderTransactions(deps)

    deps.provider.heal('getPayment')
    deps.clock.advance(3_600)
    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded', feeStatus: 'actual' })
  })

  it('is not done by a worker that read an older answer of the provider', async ({ deps, paid }) => {
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
    expect(due && (await claimJob(deps, due))).toMatchObject({ tries: 0, transaction: { settledAt: late.settledAt } })
  })
})
