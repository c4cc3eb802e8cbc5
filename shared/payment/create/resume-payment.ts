import type { Client } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { type Deadline, WAIT_MS } from './create-times.ts'
import { type CreateResult, createFailed } from './end-attempt.ts'
import type { ParsedRequest } from './refuse-body.ts'
import { runAttempt } from './run-attempt.ts'
import { takeOverPayment } from './take-over-payment.ts'

export type CreateDeps = Pick<
  Deps,
  'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'monotonicMs' | 'queues' | 'log' | 'alerts' | 'stage'
>

/** A caller meets at most its own claim, one running attempt and one lost takeover. */
const MAX_ROUNDS = 5

export const replay = (payment: Payment): CreateResult => ({ payment, replayed: true })

type Call = { readonly client: Client; readonly parsed: ParsedRequest; readonly deadline: Deadline }

/** A payment exists already: replay it, wait for its running attempt, or take it over. */
export const resume = async (
  deps: CreateDeps,
  met: StoredPayment | undefined,
  { client, parsed, deadline }: Call,
): Promise<CreateResult> => {
  let stored = met
  for (let round = 0; round < MAX_ROUNDS && stored !== undefined; round++) {
    if (stored.status !== 'creating') return replay(stored)
    if (stored.leaseUntil !== undefined && stored.leaseUntil > deps.now()) {
      return replay(await waitForAttempt(deps, stored, deadline))
    }
    const taken = await takeOverPayment(deps, stored, parsed)
    if (taken.kind === 'taken') return runAttempt(deps, client, taken.creating, deadline)
    stored = taken.stored
  }
  throw new GatewayError('internal_error', 'the payment could not be created now; retry with the same Idempotency-Key')
}

const FIRST_POLL_MS = 100
const SLOWEST_POLL_MS = 500

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
