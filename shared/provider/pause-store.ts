import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { absent, any, below } from '../table/condition.ts'
import { pausesKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { addMs, epochMs, HOUR_MS, later, SECOND_MS, type Timestamp, TimestampSchema } from '../time.ts'
import type { ProviderOperation } from './provider.ts'

type PauseDeps = Pick<Deps, 'table' | 'provider' | 'now'>

/** The pauses of all operations, as one read brings them. */
type Pauses = Readonly<Record<string, unknown>>

/** A pause that others met is seen this late at most; until then a few more calls are refused, no more. */
const CACHE_MS = SECOND_MS
/** For a 429 that says nothing of how long. */
const UNTOLD_PAUSE_MS = 5 * SECOND_MS
const ROW_LIFE_MS = HOUR_MS

type Seen = { readonly from: Timestamp; readonly until: Timestamp; readonly pauses: Pauses }

// One cache per environment, kept with the table it was read from.
const caches = new WeakMap<Deps['table'], Seen>()

const readPauses = async (deps: PauseDeps): Promise<Pauses> => {
  const now = deps.now()
  const seen = caches.get(deps.table)
  // By the wall clock, and not when that was set back: a frozen environment's other clock may stand still.
  if (seen && seen.from <= now && now < seen.until) return seen.pauses
  const pauses = (await deps.table.get(pausesKey)) ?? {}
  caches.set(deps.table, { from: now, until: addMs(now, CACHE_MS), pauses })
  return pauses
}

const pauseIn = (pauses: Pauses, operation: ProviderOperation): Timestamp | undefined => {
  const parsed = v.safeParse(TimestampSchema, pauses[operation])
  return parsed.success ? parsed.output : undefined
}

const ownPause = ({ provider, now }: PauseDeps, operation: ProviderOperation): Timestamp | undefined => {
  const pauseMs = provider.pauseMs(operation)
  return pauseMs > 0 ? addMs(now(), pauseMs) : undefined
}

/**
 * Until when the provider wants no more of these operations, by what it said to any environment; undefined: go on. Costs
 * a read a second and environment at most.
 */
export const pausedUntil = async (
  deps: PauseDeps,
  operations: readonly ProviderOperation[],
): Promise<Timestamp | undefined> => {
  let latest: Timestamp | undefined
  for (const operation of operations) {
    const pause = ownPause(deps, operation) ?? pauseIn(await readPauses(deps), operation)
    if (pause !== undefined && pause > deps.now()) latest = later(latest ?? pause, pause)
  }
  return latest
}

/**
 * Tells everybody of a 429: the operation is paused for as long as the provider said, which the adapter bounds, and
 * never for less than somebody else was told. Which of the operations it was, the adapter knows; when it does not, all
 * of them wait a moment.
 */
export const notePause = async (deps: PauseDeps, operations: readonly ProviderOperation[]): Promise<void> => {
  const told = operations.filter((operation) => deps.provider.pauseMs(operation) > 0)
  for (const operation of told.length > 0 ? told : operations) {
    const now = deps.now()
    const until = ownPause(deps, operation) ?? addMs(now, UNTOLD_PAUSE_MS)
    const ttl = Math.ceil((epochMs(until) + ROW_LIFE_MS) / SECOND_MS)
    await deps.table.write(
      update(pausesKey, { set: { [operation]: until, ttl } }, any(absent(operation), below(operation, until))),
    )
    caches.delete(deps.table)
  }
}
