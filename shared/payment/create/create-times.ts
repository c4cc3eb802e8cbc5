import { expiryOf, nextCheckAt } from '../../channel/channel-timing.ts'
import type { Deps } from '../../deps.ts'
import {
  PROVIDER_CREATE_TIMEOUT_MS,
  PROVIDER_READ_TIMEOUT_MS,
  type Provider,
} from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import type { CreatingPayment, PaymentRequest } from '../payment.ts'

/**
 * Each limit is below the next: the create's deadline, the function's 25 s, the lease, the
 * gateway's 30 s.
 */
const REQUEST_BUDGET_MS = 22_000

/** A call that we cut short has an unknown outcome. */
const MIN_CREATE_MS = 8_000

const COMMIT_RESERVE_MS = 4_000

/** Both count from the start of the attempt. The commit keeps the due time of the claim. */
export function timesOf(request: PaymentRequest, startedAt: Timestamp) {
  const expiry = expiryOf(request, startedAt, request.expiresInSeconds)
  return {
    ...expiry,
    dueAt: nextCheckAt(
      { ...request, createdAt: startedAt, expiresAt: expiry.expiresAt },
      startedAt,
    ),
  }
}

export function timesOfAttempt({ request, providerAttempts, claimedAt }: CreatingPayment) {
  return timesOf(request, providerAttempts.at(-1)?.startedAt ?? claimedAt)
}

/** One deadline covers a request from its start, so the caller always gets an answer. */
export type Deadline = { remainingMs(): number }

export function startDeadline(
  deps: Pick<Deps, 'monotonicMs'>,
  startedMs = deps.monotonicMs(),
): Deadline {
  const end = startedMs + REQUEST_BUDGET_MS
  return { remainingMs: () => Math.max(0, end - deps.monotonicMs()) }
}

/** Undefined if too little time is left for a create call. */
export function createTimeoutMs(deadline: Deadline): number | undefined {
  const budgetMs = deadline.remainingMs() - COMMIT_RESERVE_MS
  return budgetMs < MIN_CREATE_MS ? undefined : Math.min(PROVIDER_CREATE_TIMEOUT_MS, budgetMs)
}

const NO_TIME_LEFT = { kind: 'unanswered', reason: 'unreachable' } as const

/** No call begins after the deadline or outlives it. */
export function providerWithin(provider: Provider, deadline: Deadline): Provider {
  const limitMs = (ms = PROVIDER_READ_TIMEOUT_MS) => Math.min(ms, deadline.remainingMs())
  return {
    ...provider,
    getRequest: async (id, ms) =>
      limitMs() > 0 ? provider.getRequest(id, limitMs(ms)) : NO_TIME_LEFT,
    getPayment: async (id, ms) =>
      limitMs() > 0 ? provider.getPayment(id, limitMs(ms)) : NO_TIME_LEFT,
    listTransactions: async (filter, ms) =>
      limitMs() > 0 ? provider.listTransactions(filter, limitMs(ms)) : NO_TIME_LEFT,
    // An orphan that stays payable is worse than an answer a second after the deadline.
    cancelRequest: (id) => provider.cancelRequest(id, Math.max(1_000, limitMs())),
  }
}
