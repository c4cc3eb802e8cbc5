/**
 * Goal: a refund or a dispute is booked with its final fee, because the disputed amount is the row
 * less the fee that it shows (design section 10).
 */
import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  expectFinding,
  expectPayment,
  expectUnexplained,
  findingAbout,
  type PaidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { heldTest, refundFields, sumsOf } from './held-money.ts'
import { dyingBefore, syncTest } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

const it = syncTest.extend(
  'readTwice',
  ({ deps, rows, sync }) =>
    async (shown: object, first: object, last: object) => {
      const row = { id: 'txn', created: deps.now(), ...shown }
      await sync(rowOut(deps, { ...row, ...first }))
      deps.clock.advance(600)
      rows.splice(-1, 1, rowOut(deps, { ...row, ...last }))
      await sync()
      await expectHouseBalanced(deps)
      return deps.published.map(({ subject }) => subject)
    },
)

/** A dispute of 75,000 with a fee of 25,000, which the row names only when it is final. */
function disputeRow(deps: TestDeps, paid: PaidUpstream, isFinal: boolean) {
  return rowNow(deps, paid, {
    type: 'return',
    reversalKind: 'chargeback',
    transactionId: 'txn_dispute',
    keptMinor: undefined,
    ...(isFinal ? { feeMinor: minor(25_000), disputedMinor: minor(75_000) } : { hasOpenFee: true }),
  })
}

const DAY = 86_400

describe('sync: a row that takes money back while its fee is not final', () => {
  it('is booked when the fee is final, by the disputed amount', async ({
    deps,
    rows,
    credited,
    sync,
    syncAfter,
  }) => {
    await sync(rowNow(deps, credited), disputeRow(deps, credited, false))
    const before = await paymentOf(deps, credited)
    deps.clock.advance(60)

    rows.splice(1, 1, disputeRow(deps, credited, true))
    await syncAfter(60)
    await syncAfter(8 * DAY)

    expect(before.movements).toStrictEqual([])
    const { takenBackMinor, movements } = await paymentOf(deps, credited)
    expect(takenBackMinor).toBe(75_000)
    expect(movements).toMatchObject([{ amountMinor: 75_000, feeMinor: 25_000 }])
    expect(await findingAbout(deps, 'txn_dispute', 'disputed_amount_unknown')).toBeUndefined()
  })

  it('is booked at once when it has no fee, as a dispute of the whole payment', async ({
    deps,
    credited,
    sync,
  }) => {
    const { hasOpenFee: _, ...row } = disputeRow(deps, credited, false)

    await sync(rowNow(deps, credited), row)

    const { movements } = await paymentOf(deps, credited)
    expect(movements).toMatchObject([{ type: 'chargeback', amountMinor: 100_000 }])
  })

  it('is left to an operator after seven days, when it is a dispute', async ({
    deps,
    credited,
    sync,
    syncAfter,
  }) => {
    const finding = () => findingAbout(deps, 'txn_dispute', 'disputed_amount_unknown')
    await sync(rowNow(deps, credited), disputeRow(deps, credited, false))
    await syncAfter(6 * DAY)
    expect(await finding()).toBeUndefined()

    await syncAfter(DAY + 3_600)

    expect(await finding()).toMatchObject({ status: 'open', amountMinor: 100_000 })
    await expectPayment(deps, credited, { movements: [] })
  })

  it('is booked as it is after seven days and told, when it is a refund', async ({
    deps,
    credited,
    sync,
    syncAfter,
  }) => {
    const refund = rowNow(deps, credited, {
      type: 'return',
      transactionId: 'txn_refund',
      amountMinor: minor(30_000),
      keptMinor: undefined,
      hasOpenFee: true,
    })
    await sync(rowNow(deps, credited), refund)
    await expectPayment(deps, credited, { movements: [] })

    await syncAfter(7 * DAY + 3_600)

    await expectPayment(deps, credited, { takenBackMinor: 30_000 })
    await expectUnexplained(deps, 'txn_refund', { status: 'open', amountMinor: 30_000 })
  })

  heldTest.for(['a payment', 'held money'])(
    'is told although a process died before the finding, when it is a refund of %s',
    async (of, { deps, credited, rows, hold, syncAfter }) => {
      const { heldRow } = await hold('second_capture')
      const row = of === 'a payment' ? rowNow(deps, credited) : heldRow
      rows.push({
        ...row,
        ...refundFields,
        createdAt: addMs(deps.now(), -8 * DAY_MS),
        hasOpenFee: true,
        updatedAt: deps.now(),
      })
      await syncProviderTransactions(dyingBefore(deps, 'txn_back#transaction_unexplained'))

      await syncAfter(600)

      await expectUnexplained(deps, 'txn_back')
      const isHeld = of === 'held money'
      expect((await paymentOf(deps, credited)).movements).toHaveLength(isHeld ? 0 : 1)
      expect(await sumsOf(deps)).toMatchObject({ suspenseMinor: isHeld ? 0 : 100_000 })
    },
  )

  heldTest(
    'takes nothing of held money before, and is told after',
    async ({ deps, hold, sync }) => {
      const { heldRow, item } = await hold('second_capture')
      await sync({ ...heldRow, ...refundFields, updatedAt: deps.now(), hasOpenFee: true })
      expect(await item()).toMatchObject({ status: 'open' })
      expect(await sumsOf(deps)).toMatchObject({ suspenseMinor: 100_000 })

      deps.clock.pass(7 * DAY_MS + 3_600_000)
      await sync()

      expect(await item()).toMatchObject({ status: 'resolved', resolution: 'refunded' })
      await expectUnexplained(deps, 'txn_back')
    },
  )
})

/**
 * Goal: a fee that is in what a row moves is a cost, although the fee is not final. Method: one row
 * is read in two versions, as the adapter reads them.
 */

/** Moves 62,500 in each version, unless it says otherwise. */
function version(status: string, xendit_fee: number, more = {}) {
  return { net_amount: 62_500, fee: { status, xendit_fee, value_added_tax: 0 }, ...more }
}

const WITHDRAWAL = { type: 'WITHDRAWAL', reference_id: 'w-17' }
const FEE_IS_COST = { providerMinor: -62_500, bankMinor: 60_000, costMinor: -2_500, otherMinor: 0 }

describe('sync: a fee that a row moves before the fee is final', () => {
  it.for([
    ['at once when the row shows it, and the row contradicts nothing', 2_500, []],
    [
      'and no contradiction any more, when the row shows it later',
      0,
      ['txn#row_contradicts', 'txn#fee#fee_changed'],
    ],
  ] as const)('is a cost, %s', async ([, shown, findings], { deps, readTwice }) => {
    const told = await readTwice(WITHDRAWAL, version('PENDING', shown), version('COMPLETED', 2_500))

    expect(await sumsOf(deps)).toMatchObject(FEE_IS_COST)
    expect(told).toStrictEqual(findings)
  })

  const WHOLE = { providerMinor: -62_500, otherMinor: -60_000 }

  it.for<[string, (paid: PaidUpstream) => object, sums: object, told: readonly string[]]>([
    [
      'of a row that names no payment later',
      () => ({ type: 'DISBURSEMENT', reference_id: 'order 17' }),
      WHOLE,
      [],
    ],
    [
      'of a dispute without its amount later',
      () => ({ type: 'CHARGEBACK', amount: 62_500 }),
      WHOLE,
      [],
    ],
    [
      'beside the movement of a payment',
      ({ reference: reference_id, providerPaymentId: product_id }) => {
        return { type: 'REFUND', reference_id, product_id }
      },
      { providerMinor: 0, bankMinor: 0, otherMinor: 2_500 },
      ['txn#refund#row_contradicts'],
    ],
  ])(
    'is a cost %s, and contradicts nothing any more',
    async ([, named, sums, also], { deps, credited, sync, readTwice }) => {
      await sync(rowNow(deps, credited))
      const shown = { ...named(credited), created: addMs(deps.now(), -8 * DAY_MS) }

      const told = await readTwice(shown, version('PENDING', 0), version('COMPLETED', 2_500))

      expect(await sumsOf(deps)).toMatchObject({ costMinor: -2_500, ...sums })
      expect(told).toEqual(expect.arrayContaining(['txn#fee#fee_changed', ...also]))
      expect(await findingAbout(deps, 'txn', 'row_contradicts')).toBeUndefined()
    },
  )

  it.for([
    ['still moves a fee that was given back', version('REVERSED', 2_500), 0, -2_500],
    ['moves another amount too', version('COMPLETED', 3_000, { amount: 59_000 }), -3_000, 500],
  ] as const)(
    'is told with the contradiction when the row %s',
    async (rest, { deps, readTwice }) => {
      const [, last, costMinor, otherMinor] = rest

      const told = await readTwice(WITHDRAWAL, version('PENDING', 2_500), last)

      expect(await sumsOf(deps)).toMatchObject({ providerMinor: -62_500, costMinor, otherMinor })
      expect(told).toStrictEqual(['txn#fee#fee_changed'])
      await expectFinding(deps, 'txn', 'row_contradicts', { status: 'open' })
    },
  )
})
