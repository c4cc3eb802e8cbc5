import type { Timestamp } from './time.ts'

/**
 * What an environment remembers between its invocations; it begins empty. A file that remembers something declares its
 * part of this type. AWS may end an environment at any time, so nothing is in its memory alone.
 */
export interface Memory {
  /** The last time a deferred callback woke the sync. */
  syncWokenAt?: Timestamp
  /** The provider's quota lacked calls for due payments. */
  callsAreShortUntil?: Timestamp
}
