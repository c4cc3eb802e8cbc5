import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { findMovedPayment, recordRowFinding } from './provider-row.ts'
import { bookBackVoid, type Reconciled } from './reconcile-house-row.ts'
import type { RowWithPayment } from './reconcile-own-row.ts'

/**
 * A failed row moves no money. What the house booked of it is booked back, also if it became a
 * payment's refund by transfer. Any other movement of a payment by it is a finding.
 */
export async function reconcileFailedRow(
  deps: NewsDeps,
  { transaction, payment }: RowWithPayment,
): Promise<Reconciled> {
  const { type, transactionId } = transaction
  if (type === 'payment') return 'passed_over'
  if (await bookBackVoid(deps, transaction)) return 'passed_over'
  const isMoved = payment?.movements.some((movement) => movement.transactionId === transactionId)
  const mayHaveMoved = type === 'return' || type === 'correction'
  const other = mayHaveMoved && !isMoved ? await findMovedPayment(deps, transaction) : undefined
  const moved = isMoved ? payment : other
  if (moved) await recordRowFinding(deps, transaction, moved)
  return 'passed_over'
}
