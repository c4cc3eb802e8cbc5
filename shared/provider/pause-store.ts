import type { Deps } from '../deps.ts'
import { ifValid } from '../if-valid.ts'
import { isFresh } from '../memory.ts'
import type { Item } from '../table/attributes.ts'
import { pausesKey } from '../table/keys.ts'
import { absent, any, below, update } from '../table/step.ts'
import { addMs, expiresAfter, HOUR_MS, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'
import type { ProviderOperation } from './provider.ts'

type PauseDeps = Pick<Deps, 'table' | 'provider' | 'now' | 'memory'>

/** The pause after a 429 that gives no time. */
const DEFAULT_PAUSE_MS = 5 * SECOND_MS

/** Cached for a second: until then this environment does not see another's pause, and a few more calls are refused. */
const readPauses = async (deps: PauseDeps): Promise<Item> => {
  const now = deps.now()
  const { providerPauses: seen } = deps.memory
  if (seen && isFresh(seen, now)) return seen.pauses
  const pauses = (await deps.table.get(pausesKey)) ?? {}
  deps.memory.providerPauses = { from: now, until: addMs(now, SECOND_MS), pauses }
  return pauses
}

const ownPause = ({ provider, now }: PauseDeps, operation: ProviderOperation): Timestamp | undefined => {
  const pauseMs = provider.pauseMs(operation)
  return pauseMs > 0 ? addMs(now(), pauseMs) : undefined
}

/** Until when the provider refuses an operation. Costs at most one read a second in each environment. */
export const pausedUntil = async (deps: PauseDeps, operation: ProviderOperation): Promise<Timestamp | undefined> => {
  const until = ownPause(deps, operation) ?? ifValid(TimestampSchema, (await readPauses(deps))[operation])
  return until !== undefined && until > deps.now() ? until : undefined
}

/**
 * Records a 429 for all environments, for the provider's time. A longer pause already recorded stays. If the adapter does
 * not know which operation was refused, all of them pause.
 */
export const notePause = async (deps: PauseDeps, operations: readonly ProviderOperation[]): Promise<void> => {
  const refused = operations.filter((operation) => deps.provider.pauseMs(operation) > 0)
  for (const operation of refused.length > 0 ? refused : operations) {
    const now = deps.now()
    const until = ownPause(deps, operation) ?? addMs(now, DEFAULT_PAUSE_MS)
    const ttl = expiresAfter(until, HOUR_MS)
    await deps.table.write(
      update(pausesKey, { set: { [operation]: until, ttl } }, any(absent(operation), below(operation, until))),
    )
    deps.memory.providerPauses = undefined
  }
}
