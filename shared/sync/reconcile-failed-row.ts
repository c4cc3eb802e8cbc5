import { isLeftToOperator } from '../journal/house-store.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { houseRowOf } from '../posting/house-journal.ts'
import { recordSuspense } from '../suspense/record-suspense.ts'
import {
  findHeldMoney,
  findMovedPayment,
  isCreditedWith,
  type Reconciled,
  type RowWithPayment,
  recordRowFinding,
  syncFinding,
} from './provider-row.ts'
import { bookBackVoid } from './reconcile-house-row.ts'

/**
 * A failed row moves no money. What the house booked of it is booked back, also if it became a
 * payment's refund by transfer. What else was credited, held or moved by it is a finding.
 */
export async function reconcileFailedRow(deps: NewsDeps, row: RowWithPayment): Promise<Reconciled> {
  const { transaction, payment } = row
  const { type, transactionId } = transaction
  if (type === 'payment' && !(await isLeftToOperator(deps, houseRowOf(transaction))))
    return reconcileFailedOwnRow(deps, row)
  if (await bookBackVoid(deps, transaction)) return 'passed_over'
  const isMoved = payment?.movements.some((movement) => movement.transactionId === transactionId)
  // A row may name no payment, and the finding of its movement may be lost or altered.
  const moved = isMoved ? payment : await findMovedPayment(deps, transaction)
  if (moved) await recordRowFinding(deps, transaction, moved)
  return 'passed_over'
}

/**
 * The row of money that a payment is credited with, or that is held, fails. An operator must ask
 * the provider; the gateway takes nothing back.
 */
async function reconcileFailedOwnRow(
  deps: NewsDeps,
  { transaction, payment }: RowWithPayment,
): Promise<Reconciled> {
  const isCredited = isCreditedWith(payment, transaction)
  const money = isCredited ? payment : await findHeldMoney(deps, transaction)
  if (money === undefined) return 'passed_over'
  const subject = `${transaction.transactionId}#failure`
  const about = { subject, cause: 'row_contradicts', payment: money } as const
  await recordSuspense(deps, syncFinding(deps, transaction, about))
  return 'done'
}
