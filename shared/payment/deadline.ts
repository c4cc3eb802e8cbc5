import type { Deps } from '../deps.ts'
import type { Provider } from '../provider/provider.ts'

/** One deadline for a whole request. Every step takes from what is left, so the caller always gets an answer. */
export type Deadline = { remainingMs(): number }

export const startDeadline = (deps: Pick<Deps, 'monotonicMs'>, budgetMs: number): Deadline => {
  const end = deps.monotonicMs() + budgetMs
  return { remainingMs: () => Math.max(0, end - deps.monotonicMs()) }
}

/**
 * The function's time has a second more than the deadline. An orphan that stays payable is worse than a late answer.
 */
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
