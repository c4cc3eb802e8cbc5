import type { Deps } from '../../deps.ts'
import type { Provider } from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import { expiryOf, nextCheckAt } from '../channel/channel-timing.ts'
import type { CreatingPayment, PaymentRequest } from '../payment.ts'

/** Time limits of a create, each below the next: its deadline, the function's 25 s, the lease, the gateway's 30 s. */
export const REQUEST_BUDGET_MS = 22_000

/** Longer than a function lives: when the lease has expired, its process is gone. */
export const ATTEMPT_LEASE_MS = 30_000

/** The least time for the create call. A call that we cut short has an unknown outcome. */
export const LEAST_CREATE_MS = 8_000

export const COMMIT_RESERVE_MS = 4_000

/** A waiting caller gives up after this time, even if its request has more. */
export const WAIT_MS = 20_000

export const attemptStart = ({ providerAttempts, claimedAt }: CreatingPayment) =>
  providerAttempts.at(-1)?.startedAt ?? claimedAt

/** Expiry and first check of an attempt's payment, from its start. The commit keeps the due time of the claim. */
export const timesOf = (request: PaymentRequest, startedAt: Timestamp) => {
  const expiry = expiryOf(request, startedAt, request.expiresInSeconds)
  return { ...expiry, dueAt: nextCheckAt({ ...request, createdAt: startedAt, expiresAt: expiry.expiresAt }, startedAt) }
}

/** One for a whole request. Every step takes from what is left, so the caller always gets an answer. */
export type Deadline = { remainingMs(): number }

export const startDeadline = (deps: Pick<Deps, 'monotonicMs'>, budgetMs: number): Deadline => {
  const end = deps.monotonicMs() + budgetMs
  return { remainingMs: () => Math.max(0, end - deps.monotonicMs()) }
}

/** An orphan that stays payable is worse than an answer a second after the deadline. */
const LEAST_CANCEL_MS = 1_000

/** The provider within a request's deadline: no call outlives it, and none begins after it. */
export const providerWithin = (provider: Provider, deadline: Deadline): Provider => {
  const read = <Found>(
    timeoutMs: number,
    ask: (timeoutMs: number) => Promise<Found>,
  ): Promise<Found | typeof NO_TIME_LEFT> => {
    const leftMs = deadline.remainingMs()
    return leftMs > 0 ? ask(Math.min(timeoutMs, leftMs)) : Promise.resolve(NO_TIME_LEFT)
  }
  return {
    ...provider,
    getRequest: (id, timeoutMs) => read(timeoutMs, (ms) => provider.getRequest(id, ms)),
    getPayment: (id, timeoutMs) => read(timeoutMs, (ms) => provider.getPayment(id, ms)),
    listTransactions: (filter, timeoutMs) => read(timeoutMs, (ms) => provider.listTransactions(filter, ms)),
    cancelRequest: (id, timeoutMs) =>
      provider.cancelRequest(id, Math.min(timeoutMs, Math.max(LEAST_CANCEL_MS, deadline.remainingMs()))),
  }
}

const NO_TIME_LEFT = { kind: 'unanswered', reason: 'unreachable' } as const
