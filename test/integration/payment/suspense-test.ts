import type { ClientId } from '../../../shared/ids.ts'
import { bookSuspense, bookSuspenseRefund } from '../../../shared/posting/house-journal.ts'
import {
  type OperatorResolution,
  resolveSuspense,
} from '../../../shared/posting/resolve-suspense.ts'
import { finding, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import type { Suspense } from '../../../shared/suspense/suspense.ts'
import { aHouseRow, someHeldMoney } from '../../support/money-rows.ts'
import { aClientId } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { withApproval } from '../../support/with-approval.ts'
import { paymentTest } from './payment-test.ts'

export function heldMoneyItem(deps: TestDeps) {
  return someHeldMoney(deps, `py-${crypto.randomUUID()}`, 5_000)
}

export function refundOf(deps: TestDeps, item: Suspense, transactionId: string, amount: number) {
  const row = aHouseRow(deps, transactionId, -amount)
  const about = { subject: transactionId, payment: undefined, now: deps.now() }
  return bookSuspenseRefund(deps, item, row, finding({ ...about, cause: 'row_contradicts' }))
}

/** Money in suspense. Its provider row has settled, and its house entry is written. */
export async function bookedItem(deps: TestDeps, clientId?: ClientId) {
  const item = { ...heldMoneyItem(deps), clientId }
  await recordSuspense(deps, item)
  const row = aHouseRow(deps, `txn_${item.suspenseId}`, 4_900)
  await bookSuspense(deps, item, row)
  return { ...item, providerMinor: row.providerMinor }
}

/**
 * `item`: booked money of a client. `unstoredItem`: money whose suspense item is not stored yet.
 */
export const it = paymentTest
  .extend('clientId', () => aClientId())
  .extend('item', ({ deps, clientId }) => bookedItem(deps, clientId))
  .extend('unstoredItem', ({ deps }) => heldMoneyItem(deps))

type Item = Pick<Suspense, 'suspenseId'>
export function resolve(
  deps: TestDeps,
  { suspenseId }: Item,
  resolution: OperatorResolution = 'refunded_by_bank',
) {
  const input = { suspenseId, operator: 'ayu', resolution, notes: 'BCA17' }
  return withApproval(deps, () => resolveSuspense(deps, input))
}
