/**
 * Goal: a fee that is in what a row moves is a cost, although the fee is not final. Method: one row
 * is read in two versions, as the adapter reads them.
 */
import { describe, expect } from 'vitest'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { findingAbout, rowNow } from '../../support/synced-payment.ts'
import { sumsOf } from './held-money.ts'
import { syncTest } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

/** Moves 62,500 in each version, unless it says otherwise. */
function version(status: string, xendit_fee: number, more = {}) {
  return { net_amount: 62_500, fee: { status, xendit_fee, value_added_tax: 0 }, ...more }
}

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

const WITHDRAWAL = { type: 'WITHDRAWAL', reference_id: 'w-17' }
const FEE_IS_COST = { providerMinor: -62_500, bankMinor: 60_000, costMinor: -2_500, otherMinor: 0 }

describe('sync: a fee that a row moves before the fee is final', () => {
  it('is a cost at once when the row shows it, and the row contradicts nothing', async ({
    deps,
    readTwice,
  }) => {
    const told = await readTwice(WITHDRAWAL, version('PENDING', 2_500), version('COMPLETED', 2_500))

    expect(await sumsOf(deps)).toMatchObject(FEE_IS_COST)
    expect(told).toStrictEqual([])
  })

  it('is a cost, and no contradiction any more, when the row shows it later', async ({
    deps,
    readTwice,
  }) => {
    const told = await readTwice(WITHDRAWAL, version('PENDING', 0), version('COMPLETED', 2_500))

    expect(await sumsOf(deps)).toMatchObject(FEE_IS_COST)
    expect(told).toStrictEqual(['txn#row_contradicts', 'txn#fee#fee_changed'])
  })

  it.for([
    [
      'a row that names no payment',
      { type: 'DISBURSEMENT', reference_id: 'order 17' },
      -62_500,
      -60_000,
    ],
    ['a dispute without its amount', { type: 'CHARGEBACK', amount: 62_500 }, -62_500, -60_000],
  ] as const)('is a cost of %s later', async (rest, { deps, readTwice }) => {
    const [, type, providerMinor, otherMinor] = rest
    const shown = { ...type, created: addMs(deps.now(), -8 * DAY_MS) }

    const told = await readTwice(shown, version('PENDING', 0), version('COMPLETED', 2_500))

    expect(await sumsOf(deps)).toMatchObject({ providerMinor, costMinor: -2_500, otherMinor })
    expect(told).toContain('txn#fee#fee_changed')
    expect(await findingAbout(deps, 'txn', 'row_contradicts')).toBeUndefined()
  })

  it('is a cost beside the movement of a payment, which contradicts nothing any more', async ({
    deps,
    credited,
    sync,
    readTwice,
  }) => {
    await sync(rowNow(deps, credited))
    const { reference: reference_id, providerPaymentId: product_id } = credited
    const created = addMs(deps.now(), -8 * DAY_MS)
    const shown = { type: 'REFUND', reference_id, product_id, created }

    const told = await readTwice(shown, version('PENDING', 0), version('COMPLETED', 2_500))

    const feeMoved = { providerMinor: 0, bankMinor: 0, costMinor: -2_500, otherMinor: 2_500 }
    expect(await sumsOf(deps)).toMatchObject(feeMoved)
    expect(told).toContain('txn#refund#row_contradicts')
    expect(told).toContain('txn#fee#fee_changed')
    expect(await findingAbout(deps, 'txn', 'row_contradicts')).toBeUndefined()
  })

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
      expect(await findingAbout(deps, 'txn', 'row_contradicts')).toMatchObject({ status: 'open' })
    },
  )
})
