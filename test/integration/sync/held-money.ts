import { houseTotals } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { entriesIn } from '../../support/paid-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { syncTest } from './sync-test.ts'

/** The sums of the house journal, by side. */
export async function sumsOf(deps: TestDeps, untilDay = '2026-11-20') {
  const { rows: totals } = await houseTotals(deps, { fromDay: '2026-11-20', untilDay })
  const sides = ['providerMinor', 'suspenseMinor', 'costMinor', 'otherMinor', 'bankMinor'] as const
  return Object.fromEntries(
    sides.map((side) => [side, totals.reduce((sum, total) => sum + total[side], 0)]),
  )
}

export const ZERO_SUMS = {
  providerMinor: 0,
  suspenseMinor: 0,
  bankMinor: 0,
  costMinor: 0,
  otherMinor: 0,
}

export const heldTest = syncTest
  /**
   * The settled row of money that came after the payment was credited, or that names no payment.
   */
  .extend(
    'heldRow',
    ({ deps, credited }) =>
      (cause: 'second_capture' | 'unknown_reference', fields = {}) => {
        const reference = cause === 'second_capture' ? credited.reference : 'order 17'
        const providerPaymentId = deps.provider.pay(credited.payment.paymentRequestId)
        Object.assign(deps.provider.payments.get(providerPaymentId) ?? {}, { reference })
        return settledRow({ providerPaymentId, reference }, deps.now(), fields)
      },
  )
  .extend(
    'hold',
    ({ deps, heldRow, sync }) =>
      async (cause: 'second_capture' | 'unknown_reference', fields = {}) => {
        const row = heldRow(cause, fields)
        await sync(row)
        deps.clock.advance(600)
        return { heldRow: row, item: () => findSuspense(deps, row.providerPaymentId) }
      },
  )
  /** What the books say is at the provider. */
  .extend('atProvider', ({ deps, client }) => async () => {
    const { providerMinor = 0 } = await sumsOf(deps)
    const entries = await entriesIn(deps, client)
    return entries.reduce((sum, entry) => sum + entry.providerMinor, providerMinor)
  })

export const refundFields = {
  type: 'return',
  transactionId: 'txn_back',
  providerMinor: minor(-100_000),
} as const
