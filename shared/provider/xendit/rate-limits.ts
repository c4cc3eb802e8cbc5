import type { HttpOutcome } from '../call-json.ts'
import type { ProviderOperation } from '../provider.ts'

/** Bounds for a header's time. The provider's window is one minute, so two minutes are always enough. */
const LONGEST_PAUSE_MS = 120_000
const SHORTEST_PAUSE_MS = 500

/** Keeps each operation's rate limit from the provider's last answers until it expires. */
export const rateLimits = (nowMs: () => number) => {
  const roomAtMs = new Map<ProviderOperation, number>()
  const left = new Map<ProviderOperation, { readonly calls: number; readonly untilMs: number }>()
  return {
    note: (operation: ProviderOperation, outcome: HttpOutcome | 'no key'): void => {
      if (outcome === 'no key' || outcome.kind !== 'answered' || outcome.rateLimit === undefined) return
      const { remaining, resetMs } = outcome.rateLimit
      left.set(operation, { calls: remaining, untilMs: nowMs() + resetMs })
      const usedUp = remaining === 0 || outcome.status === 429
      if (usedUp) roomAtMs.set(operation, nowMs() + Math.min(Math.max(resetMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS))
      else roomAtMs.delete(operation)
    },
    callsLeft: (operation: ProviderOperation): number | undefined => {
      const latest = left.get(operation)
      return latest && nowMs() < latest.untilMs ? latest.calls : undefined
    },
    pauseMs: (operation: ProviderOperation): number => Math.max(0, (roomAtMs.get(operation) ?? 0) - nowMs()),
  }
}
