import type { Timestamp } from '../../time.ts'
import { expiryOf, nextCheckAt } from '../channel/channel-timing.ts'
import type { CreatingPayment, PaymentRequest } from '../payment.ts'

/**
 * How long a create may take, each under the next (design section 4): the request's own deadline, the function's 25 s,
 * the attempt's lease, API Gateway's 30 s.
 */
export const REQUEST_BUDGET_MS = 22_000

/** Longer than a function lives: a lease that is over means that its process is gone. */
export const ATTEMPT_LEASE_MS = 30_000

/** The create call is not begun with less than this: a call cut short is an unknown outcome made by ourselves. */
export const LEAST_CREATE_MS = 8_000

/** Kept back for the commit behind the call. */
export const COMMIT_RESERVE_MS = 4_000

/** A waiter gives up after this, whatever is left of its request. */
export const WAIT_MS = 20_000

/** When an attempt began whose times count from there; of rows without one the claim did. */
export const attemptStart = ({
  providerAttempts,
  claimedAt,
}: Pick<CreatingPayment, 'providerAttempts' | 'claimedAt'>) => providerAttempts.at(-1)?.startedAt ?? claimedAt

/**
 * When the payment of an attempt expires, and is due for its first look. Both follow from the beginning of the attempt:
 * its claim writes the entry in the index of due work, and the commit behind the provider's answer leaves it there.
 */
export const timesOf = (request: PaymentRequest, startedAt: Timestamp) => {
  const expiry = expiryOf(request, startedAt, request.expiresInSeconds)
  return { ...expiry, dueAt: nextCheckAt({ ...request, createdAt: startedAt, expiresAt: expiry.expiresAt }, startedAt) }
}
