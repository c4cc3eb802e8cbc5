import { countTransition } from '../../ledger/shard-store.ts'
import { logSuspense, publishSuspenseAlert } from '../../suspense/record-suspense.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { newSuspense } from '../../suspense/suspense-store.ts'
import { transactWhileFresh } from '../../table/transact-while-fresh.ts'
import { loggedPayment } from '../logged-payment.ts'
import { putEvent } from '../outbox-store.ts'
import { type NewsSource, type Payment, transitioned } from '../payment.ts'
import { leavePending } from '../payment-store.ts'
import type { NewsDeps } from './news-deps.ts'
import type { TransitionResult } from './succeed-payment.ts'

const CLOSED_CODE = { failed: 'payment.failed', expired: 'payment.expired', cancelled: 'payment.cancelled' } as const

/** Each has a minute. */
const MAX_TRIES = 3

/**
 * `pending` -> `failed`, `expired` or `cancelled`: payment, counts and event in one transaction (spec 3.1); no event
 * for `cancelled`. With `held`, the money that caused it goes to suspense in the same transaction, unless it is there and
 * told already. Undefined: the payment is no longer pending. A try older than a minute is made anew: whoever reads events
 * is told of none behind what it has read.
 */
export const closePayment = async (
  deps: NewsDeps,
  payment: Payment,
  status: 'failed' | 'expired' | 'cancelled',
  source: NewsSource,
  held?: Suspense,
): Promise<TransitionResult> => {
  let untold = held
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const now = deps.now()
    const closed: Payment = { ...transitioned(payment, status, now, source), dueAt: undefined }
    const outcome = await transactWhileFresh(
      deps,
      {
        payment: leavePending(closed),
        counts: countTransition({ ...closed, from: 'pending', to: status }),
        event: putEvent(closed, deps.newId(), now),
        suspense: untold && newSuspense(untold),
      },
      now,
    )
    if (outcome.applied === 'stale') continue
    if (outcome.applied) {
      await afterClosing(deps, closed, status, source, untold)
      return closed
    }
    if (outcome.refusedBy !== 'suspense') return undefined
    untold = undefined
  }
  throw new Error('others were in the way of a payment that ends, for minutes')
}

const afterClosing = async (
  deps: NewsDeps,
  closed: Payment,
  status: keyof typeof CLOSED_CODE,
  source: NewsSource,
  held: Suspense | undefined,
): Promise<void> => {
  deps.log.info(CLOSED_CODE[status], { ...loggedPayment(closed), source })
  if (!held) return
  logSuspense(deps, held)
  await publishSuspenseAlert(deps, held)
}
