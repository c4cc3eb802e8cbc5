/**
 * Goal: the books hold rupiah alone. Method: rows of each type whose currency or whose net is not
 * rupiah. Each is one finding and moves nothing, also when it is read again.
 */
import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { heldTest as it, refundFields, sumsOf, ZERO_SUMS } from './held-money.ts'
import { foreignIds } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

const OTHER_MONEY = [
  ['is in another currency', { currency: 'USD', amountMinor: minor(6), providerMinor: minor(-6) }],
  ['has a net in another currency', { isForeignNet: true }],
] as const
const TYPES: readonly (readonly [string, Partial<ProviderTransaction>])[] = [
  ['a refund', refundFields],
  ['a chargeback', { ...refundFields, reversalKind: 'chargeback' }],
  ['a won dispute', { type: 'correction', isDisputeWon: true }],
  ['a void refund', { ...refundFields, status: 'reversed' }],
  ['a row of an unknown type', { type: 'unknown' }],
]
const cases = TYPES.flatMap(([name, type]) =>
  OTHER_MONEY.map(([what, fields]) => [name, what, { ...type, ...fields }] as const),
)

describe('sync: rows that are not rupiah', () => {
  it.for(cases)(
    '%s of a payment that %s is one finding and no movement',
    async ([, , fields], { deps, credited, sync, syncAfter }) => {
      await sync(rowNow(deps, credited))
      const posted = await paymentOf(deps, credited)

      await sync(rowNow(deps, credited, { ...fields, keptMinor: undefined }))
      await syncAfter(3_600)

      expect(await paymentOf(deps, credited)).toStrictEqual(posted)
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
      expect(deps.stored.items('SUSPENSE#')).toMatchObject([
        { cause: 'transaction_unexplained', payment_id: posted.paymentId, status: 'open' },
      ])
      expect(deps.published).toHaveLength(1)
    },
  )

  it.for(['WITHDRAWAL', 'TOPUP', 'DISBURSEMENT'])(
    'a %s in dollars is one finding and no row of the house',
    async (type, { deps, sync, syncAfter }) => {
      const net = { net_amount: 100.5, net_amount_currency: 'USD' }
      const cashflow = type === 'TOPUP' ? 'MONEY_IN' : 'MONEY_OUT'
      const row = rowOut(deps, { type, cashflow, currency: 'USD', amount: 100.5, ...net })

      await sync(row)
      await syncAfter(3_600)

      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
      expect(await findingAbout(deps, row.transactionId, 'transaction_unexplained')).toMatchObject({
        status: 'open',
      })
      expect(deps.published).toHaveLength(1)
    },
  )

  it.for(OTHER_MONEY)(
    'a refund of held money that %s leaves the money held',
    async ([, fields], { deps, hold, sync }) => {
      const { heldRow, item } = await hold('unknown_reference')
      const [held, sums] = [await item(), await sumsOf(deps)]

      await sync(settledRow(heldRow, deps.now(), { ...refundFields, ...fields }))

      expect(await item()).toStrictEqual(held)
      expect(await sumsOf(deps)).toStrictEqual(sums)
      const finding = await findingAbout(deps, 'txn_back', 'transaction_unexplained')
      expect(finding).toMatchObject({ status: 'open' })
    },
  )

  it.for(['pending', 'failed'] as const)(
    'a row in dollars that is %s is passed over',
    async (status, { deps, sync }) => {
      await sync(settledRow(foreignIds, deps.now(), { type: 'return', currency: 'USD', status }))

      expect(deps.stored.items('SUSPENSE#')).toStrictEqual([])
    },
  )

  it('what the house booked of a row is booked back, whatever its currency is then', async ({
    deps,
    rows,
    sync,
  }) => {
    const row = settledRow(foreignIds, deps.now(), { type: 'account' })
    await sync(row)
    deps.clock.advance(600)
    const voided = { ...row, status: 'reversed', currency: 'USD', updatedAt: deps.now() } as const
    rows.splice(0, rows.length, voided)

    await sync()

    expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
    expect(deps.published).toStrictEqual([])
  })
})
