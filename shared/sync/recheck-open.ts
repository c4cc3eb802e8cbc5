import { paymentIdOf } from '../ids.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { addMs, HOUR_MS, type Timestamp } from '../time.ts'
import { finishJob } from './job-store.ts'
import { retryOpen } from './open-store.ts'
import { ASK_AGAIN_MS, askAbout, type SyncRun } from './read-slice.ts'
import { reconcileTransaction } from './reconcile-transaction.ts'
import type { OpenTransaction } from './sync-job.ts'
import { addOpen, type OpenHours, registerOpen } from './tail.ts'

/** Backoff: two minutes, doubled up to an hour. */
const againAt = (now: Timestamp, tries: number): Timestamp =>
  addMs(now, Math.min(HOUR_MS, ASK_AGAIN_MS * 2 ** Math.min(tries, 10)))

/**
 * Reconciles an open transaction again. Without an answer it stays open and is retried; after two days it becomes a
 * finding for an operator.
 */
const recheckOnce = async (run: SyncRun, job: OpenTransaction): Promise<void> => {
  const { deps, tally } = run
  const transaction = { keptMinor: undefined, settledAt: undefined, paymentRequestId: undefined, ...job.transaction }
  const paymentId = paymentIdOf(transaction.reference)
  const [known]: readonly Payment[] = paymentId === undefined ? [] : await findPaymentsByKey(deps, [paymentId])
  const reconciled = await reconcileTransaction(deps, transaction, known, askAbout(run))
  if (reconciled.kind === 'open') {
    tally.unanswered++
    await retryOpen(deps, job, againAt(deps.now(), job.tries + 1))
    return
  }
  if (reconciled.kind === 'credited') {
    const hours: OpenHours = new Map()
    addOpen(hours, transaction, reconciled.payment, deps.now())
    await registerOpen(deps, hours, run.scheduledHours)
  }
  await finishJob(deps, job)
}

/** Isolates a failure: the job is due again after its lease has expired, and the other jobs must not wait for it. */
export const recheckOpen = async (run: SyncRun, job: OpenTransaction): Promise<true> => {
  try {
    await recheckOnce(run, job)
  } catch (cause) {
    run.deps.log.error('sync.row_failed', { transaction_id: job.transaction.transactionId }, cause)
    run.tally.failed++
  }
  return true
}
