/**
 * Goal: a refund whose row is undone later is undone in the books too (design section 12), also if
 * its payment has the most movements. Method: `refund-payment` takes a transfer's row over from the
 * house, or the row is a refund's; then the provider shows the row with another status.
 */
import { expect } from 'vitest'
import { MAX_MOVEMENTS } from '../../../shared/journal/payment-money.ts'
import { minor } from '../../../shared/money.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { aRefund } from '../../support/money-rows.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { paymentOf, rowNow } from '../../support/synced-payment.ts'
import { heldTest, sumsOf } from './held-money.ts'
import { refund, rowOut } from './transfer-rows.ts'

const it = heldTest
  .extend('refundBy', ({ deps, credited, sync }) => async (reference_id: string) => {
    await sync(rowNow(deps, credited))
    const row = rowOut(deps, { reference_id })
    await sync(row)
    const reply = await refund(deps, credited.payment.paymentId, row.transactionId)
    if (reply.status !== 200) throw new Error('the refund was not booked')
    return row
  })
  .extend('becomes', ({ deps, rows, sync, syncAfter }) => {
    return async (row: ProviderTransaction, status: ProviderTransaction['status']) => {
      deps.clock.advance(600)
      rows.splice(rows.indexOf(row), 1, { ...row, status, updatedAt: deps.now() })
      await sync()
      // The second round reads the row again.
      await syncAfter(60)
    }
  })
  .extend('refundUntilFull', ({ deps, credited }) => async () => {
    for (;;) {
      const payment = await paymentOf(deps, credited)
      if (payment.movements.length === MAX_MOVEMENTS) return
      await movePayment(deps, payment, aRefund(deps, 1))
    }
  })

const NAMES: readonly (readonly [string, (id: string) => string])[] = [
  ['its payment', (id) => id],
  ['an attempt of its payment', (id) => `${id}-1`],
  ['an order', () => 'order-77'],
]
const cases = NAMES.flatMap(([name, referenceOf]) =>
  (['reversed', 'failed'] as const).map((status) => [name, status, referenceOf] as const),
)

it.for(cases)(
  'a refund by a transfer that names %s is reversed when its row is %s',
  async ([, status, referenceOf], { deps, credited, refundBy, becomes, atProvider }) => {
    const row = await refundBy(referenceOf(credited.payment.paymentId))
    expect(await atProvider()).toBe(35_560)
    deps.published.length = 0

    await becomes(row, status)

    expect(await paymentOf(deps, credited)).toMatchObject({
      takenBackMinor: 0,
      movements: [{ type: 'refund' }, { type: 'reversal', transactionId: row.transactionId }],
    })
    expect(await atProvider()).toBe(95_560)
    expect(deps.published).toMatchObject([
      { subject: `${row.transactionId}#reversal#money_came_back` },
    ])
    await expectHouseBalanced(deps)
  },
)

it.for(['transfer', 'refund'] as const)(
  'the void of a %s leaves the house with its money when the payment has 50 movements',
  async (type, { deps, credited, sync, refundBy, refundUntilFull, becomes, atProvider }) => {
    const row =
      type === 'transfer'
        ? await refundBy('order-77')
        : rowNow(deps, credited, { type: 'return', transactionId: 'txn_refund', ...SIXTY })
    if (type === 'refund') await sync(rowNow(deps, credited), row)
    await refundUntilFull()
    const before = await atProvider()
    deps.published.length = 0

    await becomes(row, 'reversed')

    expect(await atProvider()).toBe(before + 60_000)
    expect(await sumsOf(deps)).toMatchObject({ otherMinor: 60_000 })
    expect(deps.published).toMatchObject([
      { subject: `${row.transactionId}#reversal#too_many_movements` },
    ])
    await expectHouseBalanced(deps)
  },
)

const SIXTY = { amountMinor: minor(60_000), providerMinor: minor(-60_000) }
