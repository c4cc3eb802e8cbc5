import type { Timestamp } from './time.ts'

/** What an environment remembers between invocations. A file declares what has its types. AWS may end it at any time. */
export interface Memory {
  syncWokenAt?: Timestamp
  /** The provider's quota lacked calls for due payments. */
  callsAreShortUntil?: Timestamp
  /** The end of each provider operation's pause. */
  providerPauses?: (Cached & { readonly pauses: Readonly<Record<string, unknown>> }) | undefined
  /** The bytes of events, by payment and name. */
  eventBodies?: Map<string, Cached & { readonly reading: Promise<string | undefined> }>
}

/** A value that was read at `from`, and is read again from `until` on. */
export type Cached = { readonly from: Timestamp; readonly until: Timestamp }

/** By the wall clock, because a frozen environment's other clock may stop. Not when it was set back. */
export function isFresh({ from, until }: Cached, now: Timestamp): boolean {
  return from <= now && now < until
}

/** Makes room for one more: the oldest entry leaves a map that has `most`. */
export function keepNewest<Key, Value>(map: Map<Key, Value>, most: number): Map<Key, Value> {
  const [oldest] = map.size < most ? [] : map.keys()
  if (oldest !== undefined) map.delete(oldest)
  return map
}
