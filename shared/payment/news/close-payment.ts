import { countTransition } from '../../ledger/shard-store.ts'
import { loggedPayment } from '../../log.ts'
import type { FailureReason } from '../../payment-status.ts'
import { tellSuspense } from '../../suspense/record-suspense.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { newSuspense } from '../../suspense/suspense-store.ts'
import { transactWhileFresh } from '../../table/table.ts'
import { type Announcement, announcementOf, tellWorkers } from '../announcement.ts'
import type { NewsSource, Payment } from '../payment.ts'
import { leavePending, transitioned } from '../payment-store.ts'
import type { NewsDeps } from './ask-for-news.ts'
import type { TransitionResult } from './succeed-payment.ts'

type End = {
  readonly status: 'failed' | 'expired' | 'cancelled'
  readonly source: NewsSource
  /** The money that caused the failure. It goes to suspense. */
  readonly held?: Suspense | undefined
  /** Of a failed payment; `other` when the reason is unknown. */
  readonly failureReason?: FailureReason | undefined
}

/** Each try may take five seconds (`FRESH_MS` of announcements). */
const MAX_TRIES = 12

/**
 * Moves a payment from `pending` to `failed`, `expired` or `cancelled`, with counts, event and deliveries in one
 * transaction (spec 3.1). `cancelled` has no event. `held` goes to suspense in the same transaction, unless it is there
 * already. Undefined: the payment is no longer pending. A try that takes too long is repeated with the new time and
 * endpoints.
 */
export const closePayment = async (
  deps: NewsDeps,
  payment: Payment,
  { status, source, held, failureReason = 'other' }: End,
): Promise<TransitionResult> => {
  let toHold = held
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const now = deps.now()
    const closed: Payment = {
      ...transitioned(payment, status, now, source),
      dueAt: undefined,
      ...(status === 'failed' && { failureReason }),
    }
    const told = await announcementOf(deps, closed, now)
    const outcome = await transactWhileFresh(
      deps,
      {
        payment: leavePending(closed),
        counts: countTransition({ ...closed, from: 'pending', to: status }),
        ...told.steps,
        suspense: toHold && newSuspense(toHold),
      },
      told.freshUntil,
    )
    if (outcome.applied === 'stale') continue
    if (outcome.applied) {
      await afterClosing(deps, closed, { status, source, held: toHold }, told)
      return closed
    }
    if (outcome.refusedBy !== 'suspense') return undefined
    toHold = undefined
  }
  throw new Error('conflicting writes kept a payment from ending, for minutes')
}

const afterClosing = async (deps: NewsDeps, closed: Payment, { status, source, held }: End, told: Announcement) => {
  deps.log.info(`payment.${status}`, {
    ...loggedPayment(closed),
    source,
    deliveries: told.deliveries.length,
    failure_reason: closed.failureReason,
  })
  await tellWorkers(deps, told)
  if (held) await tellSuspense(deps, held)
}
