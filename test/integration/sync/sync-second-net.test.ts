/** The sync reads reversals for half a year, and rows that became visible late. */
import { describe, expect } from 'vitest'
import { addMs, DAY_MS, HOUR_MS, msBetween, type Timestamp } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import {
  expectPayment,
  expectSuspense,
  expire,
  findingAbout,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { syncTest as it } from './sync-test.ts'

it('sync: reversals are read daily, for payments of any age', async ({
  deps,
  rows,
  credited,
  sync,
  syncAfter,
}) => {
  const created = deps.now()
  const row = rowNow(deps, credited)
  await sync(row)
  await syncAfter(170 * 86_400)
  const reversed = rowNow(deps, credited, {
    transactionId: row.transactionId,
    createdAt: created,
    updatedAt: created,
    status: 'reversed',
  })
  rows.splice(0, 1, reversed)

  await syncAfter(23 * 3_600)
  const finding = () => findingAbout(deps, `${reversed.transactionId}#reversal`, 'money_went_back')
  expect(await finding()).toBeUndefined()
  await syncAfter(3_600)

  expect(await finding()).toMatchObject({ amountMinor: 95_460 })
})

describe('sync: the second net', () => {
  it('finds a row that became visible a day after its update, and says how late', async ({
    deps,
    rows,
    paid,
    sync,
    syncAfter,
  }) => {
    await sync()
    const late = rowNow(deps, paid)
    for (let hour = 0; hour < 24; hour++) await syncAfter(3_600)
    rows.push(late)
    const statusOf = async () => (await paymentOf(deps, paid)).status
    await syncAfter(3_600)
    expect(await statusOf()).toBe('pending')

    let hours = 25
    for (; hours < 72 && (await statusOf()) === 'pending'; hours++) await syncAfter(3_600)

    await expectPayment(deps, paid, { status: 'succeeded', feeStatus: 'actual' })
    expect(deps.lines.filter(({ code }) => code === 'sync.row_late')).toMatchObject([
      { fields: { transaction_id: late.transactionId, lag_ms: hours * HOUR_MS } },
    ])
    expect(hours).toBeLessThanOrEqual(72)
  })

  it.for([2, 4, 8])(
    'finds money that became visible %d days after it came, with its old times',
    async (days, { deps, paid, rows, sync, syncAfter, syncDays }) => {
      await sync()
      const at = deps.now()
      await expire(deps, paid.payment)
      await syncDays(days)
      rows.push(settledRow(paid, at))

      for (let day = days; day < 17; day++) await syncAfter(86_400)

      await expectSuspense(deps, paid.providerPaymentId, {
        kind: 'money',
        status: 'open',
        paymentId: paid.payment.paymentId,
      })
    },
  )

  it('reads each day of creation a day after its end, and once more with its week', async ({
    deps,
    sync,
    syncDays,
  }) => {
    const spans: { readonly from: string; readonly to: string; readonly at: Timestamp }[] = []
    deps.provider.before('listTransactions', (filter) => {
      const { createdFrom: from, createdTo: to, rows } = filter
      if (from && to && rows === 'all') spans.push({ from, to, at: deps.now() })
    })
    await sync()
    const first = deps.now()

    await syncDays(40)

    const lagsOf = (created: Timestamp) =>
      spans.flatMap(({ from, to, at }) =>
        from <= created && created < to ? [Math.floor(msBetween(created, at) / DAY_MS)] : [],
      )
    for (let day = 1; day < 20; day++) {
      const [early, late, ...more] = lagsOf(addMs(first, day * DAY_MS))
      expect(early).toBe(2)
      expect(late).toBeGreaterThanOrEqual(8)
      expect(late).toBeLessThanOrEqual(16)
      expect(more).toStrictEqual([])
    }
  })

  it('finds a deduction that became visible within half a year', async ({
    deps,
    rows,
    sync,
    syncAfter,
  }) => {
    await sync()
    const late = settledRow({ providerPaymentId: '', reference: '' }, deps.now(), {
      type: 'return',
    })
    await syncAfter(170 * 86_400)
    rows.push(late)
    await syncAfter(86_400)

    await expectSuspense(deps, `${late.transactionId}#reversed_upstream`, { status: 'open' })
  })
})
