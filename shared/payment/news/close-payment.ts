import { countTransition } from '../../ledger/shard-store.ts'
import type { FailureReason } from '../../payment-status.ts'
import { reportSuspense } from '../../suspense/record-suspense.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { putSuspense } from '../../suspense/suspense-store.ts'
import { type AnnouncedEnd, commitTransition } from '../announcement.ts'
import { announceMoney, HELD_EVENT, heldBefore } from '../held-money.ts'
import type { NewsSource, Payment } from '../payment.ts'
import { leavePending, withTransition } from '../payment-store.ts'
import type { NewsDeps } from './ask-for-news.ts'

export type End = {
  readonly status: 'failed' | 'expired' | 'cancelled'
  readonly source: NewsSource
  /** The wrong money that made the payment fail. */
  readonly held?: Suspense | undefined
  /** Only a failed payment has a reason. */
  readonly failureReason?: FailureReason | undefined
}

/** A try lasts up to five seconds (`FRESH_MS` of announcements), so all tries last a minute. */
const MAX_TRIES = 12

/**
 * Moves a payment from `pending` to `failed`, `expired` or `cancelled`, with counts, event and
 * deliveries in one transaction (spec 3.1). `cancelled` has no event. The transaction also records
 * `held` in suspense, if it is not recorded yet. Undefined: the payment is no longer pending. A try
 * that takes too long is repeated with the new time and endpoints.
 */
export async function closePayment(
  deps: NewsDeps,
  payment: Payment,
  { status, source, held, failureReason }: End,
): Promise<Payment | undefined> {
  let toHold = held
  let toShow = held
  let isAnnounced = false
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const at = deps.now()
    const ended = (end: AnnouncedEnd) =>
      paymentAfterEnd(payment, { status, source, failureReason, ...end })
    const shown = toShow && (await announceMoney(deps, ended({ at }), toShow, isAnnounced))
    const plan = (end: AnnouncedEnd) => {
      const closed = ended(end)
      const counts = countTransition({ ...closed, from: 'pending', to: status })
      const suspense = { ...(toHold && putSuspense(toHold)), ...shown?.steps }
      return {
        payment: closed,
        steps: { payment: leavePending(closed, shown?.held), counts, ...suspense },
      }
    }
    const { outcome, payment: closedPayment } = await commitTransition(deps, plan, undefined, at)
    if (outcome.applied) {
      await shown?.report()
      if (toHold) await reportSuspense(deps, toHold)
      return shown ? { ...closedPayment, held: shown.held } : closedPayment
    }
    if (outcome.refusedBy === 'suspense') {
      toHold = undefined
      toShow = heldBefore(outcome.item)
    } else if (outcome.refusedBy === HELD_EVENT) isAnnounced = true
    else if (outcome.refusedBy !== 'stale') return undefined
  }
  throw new Error('conflicting writes kept a payment from ending')
}

/** `failure_reason`: what an event has announced of the end. */
export function paymentAfterEnd(
  payment: Payment,
  {
    status,
    source,
    at,
    failure_reason: announcedReason,
    failureReason = 'other',
  }: Omit<End, 'held'> & Pick<AnnouncedEnd, 'at' | 'failure_reason'>,
): Payment {
  return {
    ...withTransition(payment, status, at, source),
    dueAt: undefined,
    ...(status === 'failed' && { failureReason: announcedReason ?? failureReason }),
  }
}
