import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { findingAbout, type PaidUpstream, paymentOf, pendingOf, rowNow } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { syncTest as it } from './sync-test.ts'

const dispute = (deps: TestDeps, paid: PaidUpstream) =>
  rowNow(deps, paid, {
    type: 'return',
    returns: 'chargeback',
    keptMinor: undefined,
    amountMinor: minor(125_000),
    disputedMinor: minor(100_000),
    providerMinor: minor(-125_000),
  })

const won = (deps: TestDeps, paid: PaidUpstream, fields: Partial<ProviderTransaction> = {}) =>
  rowNow(deps, paid, { type: 'correction', comesAgain: true, keptMinor: undefined, ...fields })

const MINUTES = 60
const DAYS = 86_400

describe('sync: a dispute that is won', () => {
  it.for([
    ['in one page with it', 0],
    ['long after it', 10 * DAYS],
  ] as const)('undoes what its chargeback did: %s', async ([, seconds], { deps, client, rows, credited }) => {
    rows.push(dispute(deps, credited))
    if (seconds > 0) await syncProviderTransactions(deps)
    deps.clock.advance(seconds)
    rows.push(won(deps, credited))

    await syncProviderTransactions(deps)
    deps.clock.advance(10 * MINUTES)
    await syncProviderTransactions(deps)

    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
    expect(await paymentOf(deps, credited)).toMatchObject({ reversal: { undoneAt: expect.any(String) } })
  })

  it('waits for its chargeback when it is heard of before', async ({ deps, client, rows, credited }) => {
    rows.push(won(deps, credited))
    await syncProviderTransactions(deps)
    const early = await paymentOf(deps, credited)
    deps.clock.advance(30 * MINUTES)
    rows.push(dispute(deps, credited))
    await syncProviderTransactions(deps)
    deps.clock.advance(90 * MINUTES)

    const later = await syncProviderTransactions(deps)

    expect(early.reversal).toBeUndefined()
    expect(later).toMatchObject({ unanswered: 0, complete: true })
    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
    expect(await paymentOf(deps, credited)).toMatchObject({
      takenBackMinor: 0,
      reversal: { undoneAt: expect.any(String) },
    })
  })

  it('is booked without its chargeback after two days: it gives back nothing', async ({
    deps,
    client,
    rows,
    credited,
  }) => {
    const row = won(deps, credited)
    rows.push(row)
    await syncProviderTransactions(deps)
    const early = await findingAbout(deps, `${row.transactionId}#dispute_won`, 'money_went_back')
    deps.clock.advance(2 * DAYS + 90 * MINUTES)

    await syncProviderTransactions(deps)

    expect(early).toBeUndefined()
    expect(await findingAbout(deps, `${row.transactionId}#dispute_won`, 'money_went_back')).toMatchObject({
      amountMinor: 0,
    })
    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
  })

  it('in part gives back that part', async ({ deps, client, rows, credited }) => {
    rows.push(dispute(deps, credited))
    await syncProviderTransactions(deps)
    expect(await pendingOf(deps, client.clientId)).toBe(0)
    rows.push(won(deps, credited, { amountMinor: minor(60_000) }))

    await syncProviderTransactions(deps)

    expect(await pendingOf(deps, client.clientId)).toBe(60_000)
    const { reversal } = await paymentOf(deps, credited)
    expect(reversal).toMatchObject({ kind: 'chargeback', amountMinor: 40_000 })
    expect(reversal).not.toHaveProperty('undoneAt')
  })

  it('of a dispute whose amount no row says is a person’s, and moves nothing', async ({
    deps,
    client,
    rows,
    credited,
  }) => {
    const { disputedMinor: _, ...unclear } = dispute(deps, credited)
    rows.push(unclear)

    await syncProviderTransactions(deps)
    await syncProviderTransactions(deps)

    const finding = { status: 'open', amountMinor: 125_000, paymentId: credited.payment.paymentId }
    expect(await findingAbout(deps, unclear.transactionId, 'disputed_amount_unknown')).toMatchObject(finding)
    expect(deps.published).toHaveLength(1)
    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
  })

  it('of a payment whose callback was lost credits that first', async ({ deps, client, rows, paid }) => {
    rows.push(won(deps, paid), dispute(deps, paid))

    await syncProviderTransactions(deps)
    deps.clock.advance(90 * MINUTES)
    await syncProviderTransactions(deps)

    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
    expect((await paymentOf(deps, paid)).reversal).toMatchObject({ kind: 'chargeback', undoneAt: expect.any(String) })
  })
})
