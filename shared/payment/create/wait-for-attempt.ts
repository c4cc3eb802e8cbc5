import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import type { Deadline } from '../deadline.ts'
import type { CreatingPayment, Payment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { WAIT_MS } from './create-times.ts'

const FIRST_POLL_MS = 100
const SLOWEST_POLL_MS = 500

/** The answer about an attempt that failed. It is safe to retry with the same key (spec 4.1, rule 4). */
export const createFailed = (failure: string): GatewayError => new GatewayError('internal_error', failure)

/**
 * Waits for the running attempt and answers its payment. A failed attempt is answered as a failure: only a new request
 * takes over, so that many waiting callers do not call the provider together.
 */
export const waitForAttempt = async (
  deps: Pick<Deps, 'table' | 'sleep' | 'random' | 'now' | 'monotonicMs'>,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<Payment> => {
  const end = deps.monotonicMs() + Math.min(WAIT_MS, deadline.remainingMs())
  for (let pollMs = FIRST_POLL_MS; deps.monotonicMs() < end; pollMs = Math.min(pollMs * 2, SLOWEST_POLL_MS)) {
    // Jitter spreads many waiting callers over the interval.
    await deps.sleep(Math.ceil(pollMs / 2 + (deps.random() * pollMs) / 2))
    const stored = await findStoredPayment(deps, creating.paymentId)
    if (stored && stored.status !== 'creating') return stored
    if (stored?.leaseUntil === undefined || stored.leaseUntil <= deps.now()) {
      throw createFailed(stored?.failure ?? 'the payment could not be created; retry with the same Idempotency-Key')
    }
  }
  throw createFailed('the payment is still being created; retry with the same Idempotency-Key')
}
