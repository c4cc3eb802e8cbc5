/**
 * The sync reads open rows again when they can be final, an hour of rows at a time. It reads
 * reversals for half a year.
 */
import { describe, expect } from 'vitest'
import { expectedSettlement } from '../../../shared/channel/channel-timing.ts'
import { minor } from '../../../shared/money.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import type { ProviderTransaction, TransactionFilter } from '../../../shared/provider/provider.ts'
import { handOverOwnRow } from '../../../shared/sync/hand-over-own-row.ts'
import {
  claimJob,
  findDueJobs,
  finishJob,
  keepPosition,
  registerReading,
} from '../../../shared/sync/job-store.ts'
import { runSyncJobs, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { readHourAgain } from '../../../shared/sync/tail.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { NOT_SETTLED, pageOfRows, settledRow } from '../../support/fake-provider.ts'
import { checkWhenDue, OVO_REQUEST, paidWhileCreating } from '../../support/payment-builders.ts'
import {
  creditedPayment,
  expectPayment,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { rawItem } from '../../support/tampering.ts'
import { recordTable, type TestDeps, writtenKeys } from '../../support/test-deps.ts'
import { syncTest as it } from './sync-test.ts'

const CATEGORY = 'VIRTUAL_ACCOUNT'

/**
 * A row as it is before the provider settles; `settle` makes it final without marking it as
 * updated.
 */
function openRow(deps: TestDeps, paid: PaidUpstream, fields: Partial<ProviderTransaction> = {}) {
  const final = rowNow(deps, paid, {
    category: CATEGORY,
    settlesAt: addMs(deps.now(), 2 * DAY_MS),
    ...fields,
  })
  deps.provider.transactions.push({ ...final, ...NOT_SETTLED })
  const index = deps.provider.transactions.length - 1
  return { settle: () => void deps.provider.transactions.splice(index, 1, final) }
}

/** Records each listing by creation time that is not a daily one, with its number of rows. */
function watchTail(deps: TestDeps) {
  const listings: (Omit<TransactionFilter, 'rows'> & { readonly rows: number })[] = []
  deps.provider.script('listTransactions', async (filter) => {
    const value = pageOfRows(deps.provider.transactions, filter)
    // The readings of the second net begin and end at midnight.
    const isDay = filter.createdFrom?.includes('T00:00:00.000') && filter.category === undefined
    const isDaily = filter.rows !== 'all' || isDay
    if (filter.createdFrom !== undefined && !isDaily) {
      listings.push({ ...filter, rows: value.transactions.length })
    }
    return { kind: 'found', value }
  })
  return listings
}

function aReading(now: Timestamp) {
  const slice = { id: 'tail#x', from: now, to: now, category: CATEGORY }
  return { slice, reading: { dueAt: now, maxReads: 3 } }
}

async function run(deps: TestDeps, at: Timestamp) {
  deps.clock.set(at)
  await runSyncJobs(deps, { woken: false })
}

describe('sync: the tail', () => {
  it('reads the hour again once when its latest settlement is due', async ({
    deps,
    client,
    credited,
  }) => {
    const listings = watchTail(deps)
    const start = deps.now()
    // Two slices of the head begin or end here, so a run reads these rows twice.
    const updatedAt = addMs(start, -6 * HOUR_MS)
    const earlierRow = openRow(deps, await creditedPayment(deps, client), {
      updatedAt,
      settlesAt: addMs(start, DAY_MS),
    })
    const { settle } = openRow(deps, credited, { updatedAt })
    const recorded = recordTable(deps)
    await syncProviderTransactions(recorded.deps)
    const earlyAt = addMs(start, 2 * DAY_MS)
    settle()
    earlierRow.settle()

    await run(deps, earlyAt)
    const earlyListings = listings.length
    // The job is due ten minutes after the hour of the settlement.
    await run(deps, addMs(earlyAt, HOUR_MS + 10 * MINUTE_MS))
    await run(deps, addMs(earlyAt, 3 * DAY_MS))

    expect(writtenKeys(recorded.calls).filter(({ pk }) => pk.includes('tail'))).toHaveLength(1)
    expect(earlyListings).toBe(0)
    expect(listings).toMatchObject([
      { createdFrom: start, createdTo: addMs(start, HOUR_MS - 1), category: CATEGORY, rows: 2 },
    ])
    await expectPayment(deps, credited, { feeStatus: 'actual', providerFeeMinor: 4_440 })
  })

  it('reads an hour at most four times, three times a day apart, then after 28 days, besides when operators ask for a posted payment’s row', async ({
    deps,
    credited,
    rows,
    sync,
  }) => {
    const listings = watchTail(deps)
    const start = deps.now()
    openRow(deps, credited)
    await sync()
    const readAfterHours: number[] = []

    for (let hours = 6; hours <= 40 * 24; hours += 6) {
      await handOverOwnRow(deps, await paymentOf(deps, credited))
      if (hours > 54 && hours < 78) for (const row of rows) await readHourAgain(deps, row)
      await run(deps, addMs(start, hours * HOUR_MS))
      if (listings.length > readAfterHours.length) readAfterHours.push(hours)
    }

    expect(listings.map((listing) => listing.rows)).toStrictEqual(readAfterHours.map(() => 1))
    expect(readAfterHours).toStrictEqual([54, 60, 66, 72, 78, 102, 102 + 28 * 24])
    expect(await findDueJobs(deps, 10)).toStrictEqual([])
  })

  it('waits for business days when the row has no settlement time', async ({
    deps,
    rows,
    credited,
    sync,
  }) => {
    const listings = watchTail(deps)
    rows.push(rowNow(deps, credited, { category: 'QR_CODE' }))
    openRow(deps, { ...credited }, { settlesAt: undefined, category: undefined })
    await sync()

    await run(deps, addMs(expectedSettlement(credited.payment, deps.now()), 2 * HOUR_MS))

    expect(listings).toHaveLength(1)
    expect(listings[0]).not.toHaveProperty('category')
  })

  it('moves a reading only to a later settlement time', async ({ deps }) => {
    const { slice, reading } = aReading(deps.now())
    const until = (days: number) => ({ ...slice, settlesBy: addMs(deps.now(), days * DAY_MS) })

    const registrations = []
    for (const days of [2, 1, 2, 3])
      registrations.push((await registerReading(deps, until(days), reading)).applied)

    expect(registrations).toStrictEqual([true, false, false, true])
    expect(await rawItem(deps, syncJobKey(slice.id))).toMatchObject({ provider: 'xendit' })
    const claim = { ...slice, kind: 'tail', reads: 0, dueAt: addMs(deps.now(), -1) } as const
    expect(await keepPosition(deps, claim, { afterId: 'txn' })).toBeUndefined()
  })

  it('reads an hour again, from its beginning, when a payment was credited after its last reading', async ({
    deps,
  }) => {
    const { slice, reading } = aReading(deps.now())
    const settlesBy = addMs(deps.now(), DAY_MS)

    const registrations = []
    for (const reads of [1, 2, 3, 4]) {
      registrations.push((await registerReading(deps, { ...slice, settlesBy }, reading)).applied)
      const job = await claimJob(deps, { id: slice.id, dueAt: reading.dueAt })
      if (job?.kind !== 'tail') continue
      expect([job.afterId, job.openUntil]).toStrictEqual([undefined, undefined])
      const movedJob = await keepPosition(deps, job, { afterId: 'txn', openUntil: settlesBy })
      await finishJob(deps, movedJob ?? job, reads)
    }

    expect(registrations).toStrictEqual([true, true, true, false])
  })

  it.for([
    ['BNI', '06T10:00', '06T10:05'],
    ['BCA', '06T10:00', '09T10:00'],
    // A day later it is Saturday in Jakarta, and still Friday in UTC.
    ['BCA', '05T18:00', '08T18:00'],
    [undefined, '02T10:00', '04T10:00'],
  ] as const)('expects %s paid at %s to settle at %s', ([channelCode, paidAt, at]) => {
    const method = channelCode ? 'virtual_account' : 'qris'
    const [paid, settled] = [paidAt, at].map((time) => `2026-11-${time}:00.000Z` as Timestamp)
    expect(paid && expectedSettlement({ method, channelCode }, paid)).toBe(settled)
  })
})

describe('sync: a row as the provider’s answer', () => {
  // Known by callbacks alone (hyperswitch #10759), which stop (odoo/documentation #20034).
  it.for<Partial<PaymentRequest>>([
    { channelCode: 'BNI' },
    { channelCode: 'BCA' },
    { method: 'qris', channelCode: undefined },
    { method: 'ewallet', channelCode: 'DANA' },
    OVO_REQUEST,
  ])(
    'credits a pending payment without another call: %j',
    async (fields, { deps, client, sync }) => {
      const paid = await paidUpstream(deps, client, fields)

      await sync(rowNow(deps, paid, NOT_SETTLED))

      const credited = {
        status: 'succeeded',
        capture: { providerPaymentId: paid.providerPaymentId },
      }
      await expectPayment(deps, paid, { feeStatus: 'estimated', ...credited })
      // The gateway made the request, and never asked about the request, its payment or its fee.
      const operations = deps.provider.calls
        .map(({ operation }) => operation)
        .filter((operation) => operation !== 'listTransactions')
      expect(operations).toStrictEqual(['createRequest'])
      expect(deps.provider.calls.map(({ id }) => id)).not.toContain(paid.providerPaymentId)
    },
  )

  it.for<[string, Partial<ProviderTransaction>]>([
    ['another amount', { amountMinor: minor(99_999) }],
    ['another currency', { currency: 'PHP' }],
    ['another attempt', { reference: 'other' }],
    ['another request', { paymentRequestId: 'pr-other' }],
    ['an id of another product', { providerPaymentId: 'inv-1', isCaptured: undefined }],
  ])('is only a hint when it has %s', async ([, fields], { deps, paid, sync }) => {
    const reference = fields.reference === 'other' ? `${paid.payment.paymentId}-2` : paid.reference

    await sync(rowNow(deps, paid, { ...fields, reference }))

    expect(deps.provider.countOf('getPayment')).toBe(1)
    expect((await paymentOf(deps, paid)).status).toBe(
      'providerPaymentId' in fields ? 'pending' : 'succeeded',
    )
  })
})

it('sync stores a capture during the create, then its fee (section 4)', async ({
  deps,
  client,
  sync,
  syncAfter,
}) => {
  const { creating, answer, reference, providerPaymentId } = await paidWhileCreating(deps, client)
  const row = settledRow({ providerPaymentId, reference }, deps.now())

  const first = await sync(row)
  answer.resolve()
  const { payment } = await creating
  await checkWhenDue(deps, payment)
  const second = await syncAfter(3_600)

  expect(first).toMatchObject({ unanswered: 1, complete: true })
  expect(second).toMatchObject({ unanswered: 0, complete: true })
  const settled = { status: 'succeeded', feeStatus: 'actual', providerSettledAt: row.settledAt }
  await expectPayment(deps, { payment }, settled)
  expect(deps.published).toStrictEqual([])
  deps.clock.advance(3_600)
  expect((await findDueJobs(deps, 10)).map(({ id }) => id)).not.toContain(
    `open#${row.transactionId}`,
  )
})
