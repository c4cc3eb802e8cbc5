import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-entries.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { reconcileTransaction } from '../../../shared/sync/reconcile-transaction.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import {
  anOpenPayment,
  aSucceededPayment,
  aTransaction,
  entriesIn,
  feeOf,
} from '../../support/paid-builders.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { inSteps, sweep, sweptNow } from '../../support/settlement-builders.ts'
import { ASK, paymentOf } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { it } from './overdue-test.ts'

async function notify(deps: TestDeps, payment: Payment, row: ProviderTransaction) {
  return reconcileTransaction(
    deps,
    { transaction: row, payment: await paymentOf(deps, { payment }) },
    ASK,
  )
}

/** The row has the estimated fee. */
async function payAfterRow(deps: TestDeps, client: Client, payment: Payment) {
  await notify(deps, payment, aTransaction(payment, { keptMinor: 4_000, settledAt: deps.now() }))
  await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), -DAY_MS) })
}

describe('the row of a payment whose fee was assumed (design section 12)', () => {
  const assumed = it.extend('payment', async ({ deps, client, overdue }) => {
    await sweptNow(deps, client)
    deps.clock.advance(3_600)
    return paymentOf(deps, { payment: overdue })
  })

  assumed.for([
    ['with the same fee', 4_000, 0, 0],
    ['with another fee at the cost of the house', 4_440, -440, 0, 'fee_changed'],
    ['that contradicts itself', 20_000, 0, -16_000, 'row_contradicts'],
  ] as const)(
    'is booked once, with only a provider leg: %s; what differs is a finding',
    async (example, { deps, client, payment }) => {
      const [, keptMinor, costMinor, otherMinor, cause] = example
      deps.published.length = 0
      const row = aTransaction(payment, { keptMinor, settledAt: deps.now() })

      await notify(deps, payment, row)
      await notify(deps, payment, row)

      const [ownEntry, lateEntry, ...otherEntries] = await entriesIn(deps, client)
      expect(otherEntries).toStrictEqual([])
      const providerMinor = 100_000 - keptMinor
      const proof = { provenMinor: 95_900, provenEligibleAt: ownEntry?.eligibleAt }
      expect(lateEntry).toMatchObject({
        type: 'late_row',
        providerTransactionId: row.transactionId,
        grossMinor: 0,
        netMinor: 0,
        providerMinor,
        transitMinor: -96_000,
        costMinor,
        otherMinor,
        ...(otherMinor === 0 && proof),
      })
      expect(ownEntry).toMatchObject({ transitMinor: 96_000, markupMinor: 100, costMinor: 0 })
      expect(await feeOf(deps, payment)).toStrictEqual([4_000, 95_900, 'assumed'])
      const subject = `${payment.paymentId}#${cause}`
      expect(deps.published).toMatchObject(cause ? [{ subject }] : [])
      expect((await findSuspense(deps, subject))?.amountMinor).toBe(
        cause === 'row_contradicts' ? 100_000 : cause && keptMinor,
      )

      await notify(deps, payment, { ...row, status: 'reversed' })
      const entries = await entriesIn(deps, client)
      expect(entries.find(({ type }) => type === 'reversal')).toMatchObject({
        providerMinor: 0 - providerMinor,
        costMinor: 0 - costMinor,
        otherMinor: 0 - otherMinor,
      })
    },
  )

  assumed(
    'proves nothing for a later settlement, and changes none of that settlement’s sums',
    async ({ deps, client, payment }) => {
      await payAfterRow(deps, client, payment)

      const sums = { netMinor: 95_900, paymentCount: 1, entryCount: 2, unprovenMinor: 0 }
      expect(await sweep(deps, client)).toMatchObject(sums)
    },
  )

  it.for([
    [10, 600],
    [1, 600],
    [10, 1],
    [1, 1],
  ] as const)(
    'proves its payment if the sync reads it before the settlement: blocks of %i, %i s before',
    async ([block, seconds], { deps: outerDeps }) => {
      const deps = inSteps(outerDeps, 10, 10, block)
      const client = await aStoredClient(deps, { settlementFloorMinor: minor(100_000) })
      const payment = await anOpenPayment(deps, client)
      deps.clock.pass(7 * DAY_MS)
      expect(await sweep(deps, client)).toBeUndefined()
      deps.clock.advance(600)
      await payAfterRow(deps, client, payment)
      deps.clock.advance(seconds)

      const settlement = await sweptNow(deps, client)
      expect(settlement).toMatchObject({ netMinor: 191_800, unprovenMinor: 0 })
      // Operators also see the row that moves money only at the provider.
      const shown = await settlementStatement(deps, { ...settlement, format: 'json' })
      expect(shown).toMatchObject({ entries: { length: 3 }, totals: { entry_count: 3 } })

      await expectBalanced(inSteps(outerDeps, 10, 1_000, block), client)
    },
  )
})
