import type { Timestamp } from './time.ts'

/**
 * What an environment remembers between invocations. Other files add fields. AWS may end the
 * environment at any time.
 */
export interface Memory {
  syncWokenAt?: Timestamp
  callsAreShort?: Cached
  providerPauses?: (Cached & { readonly pauses: Readonly<Record<string, unknown>> }) | undefined
}

/** A value that was read at `from`, and is read again after `until`. */
export type Cached = { readonly from: Timestamp; readonly until: Timestamp }

/**
 * By the wall clock, because a frozen environment's monotonic clock may stop. False if the wall
 * clock was set back.
 */
export function isFresh({ from, until }: Cached, now: Timestamp): boolean {
  return from <= now && now < until
}

/** Deletes the oldest entry of a map that has `most` entries. */
export function keepNewest<Key, Value>(map: Map<Key, Value>, most: number): Map<Key, Value> {
  const [oldest] = map.size < most ? [] : map.keys()
  if (oldest !== undefined) map.delete(oldest)
  return map
}
