import type { Deps } from '../../deps.ts'
import { countTransition } from '../../ledger/ledger-store.ts'
import { logSuspense, publishSuspenseAlert } from '../../suspense/record-suspense.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { ensureSuspense } from '../../suspense/suspense-store.ts'
import { loggedPayment } from '../logged-payment.ts'
import { putEvent } from '../outbox.ts'
import { type NewsSource, type Payment, transitioned } from '../payment.ts'
import { leavePending } from '../payment-store.ts'
import type { TransitionResult } from './succeed-payment.ts'

type CloseDeps = Pick<Deps, 'stage' | 'table' | 'now' | 'newId' | 'log' | 'alerts'>

const CLOSED_CODE = { failed: 'payment.failed', expired: 'payment.expired', cancelled: 'payment.cancelled' } as const

/**
 * `pending` -> `failed`, `expired` or `cancelled`: payment, counts and event in one transaction (spec 3.1); no event
 * for `cancelled`. With `held`, the money that caused it goes to suspense in the same transaction. Undefined: the
 * payment is no longer pending.
 */
export const closePayment = async (
  deps: CloseDeps,
  payment: Payment,
  status: 'failed' | 'expired' | 'cancelled',
  source: NewsSource,
  held?: Suspense,
): Promise<TransitionResult> => {
  const now = deps.now()
  const closed: Payment = { ...transitioned(payment, status, now, source), dueAt: undefined }
  const outcome = await deps.table.transact({
    payment: leavePending(closed, deps.stage.storedRows),
    counts: countTransition({ ...closed, from: 'pending', to: status }),
    event: putEvent(closed, deps.newId(), now, deps.stage.storedRows),
    suspense: held && ensureSuspense(held),
  })
  if (!outcome.applied) return undefined
  deps.log.info(CLOSED_CODE[status], { ...loggedPayment(closed), source })
  if (held) {
    logSuspense(deps, held)
    await publishSuspenseAlert(deps, held)
  }
  return closed
}
