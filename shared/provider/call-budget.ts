import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import { notePause } from './pause-store.ts'
import type { ProviderOperation } from './provider.ts'
import { callsPerMinute, quotaWindow, takeCalls } from './quota-store.ts'

type Portion = { readonly calls: number; readonly until: Timestamp }

/** The calls of one run: taken from the quota in portions, used one by one. */
export type CallBudget = {
  /** Undefined: one call may be made now. Otherwise the time of the next try. */
  take(operation: ProviderOperation): Promise<Timestamp | undefined>
  /** The provider answered 429: drops the unused calls and pauses the operations in all environments. */
  refused(operations: readonly ProviderOperation[]): Promise<void>
}

export const callBudget = (
  deps: Pick<Deps, 'table' | 'stage' | 'provider' | 'now' | 'memory'>,
  portions: Readonly<Partial<Record<ProviderOperation, number>>>,
): CallBudget => {
  const left = new Map<ProviderOperation, Portion>()
  return {
    take: async (operation) => {
      const now = deps.now()
      let portion = left.get(operation)
      if (portion === undefined || portion.calls === 0 || portion.until <= now) {
        const until = quotaWindow(callsPerMinute(deps.stage, now), now).endsAt
        const { granted, retryAt } = await takeCalls(deps, operation, portions[operation] ?? 1)
        if (granted === 0) return retryAt ?? until
        portion = { calls: granted, until }
      }
      left.set(operation, { ...portion, calls: portion.calls - 1 })
      return undefined
    },
    refused: async (operations) => {
      for (const operation of operations) left.delete(operation)
      await notePause(deps, operations)
    },
  }
}
