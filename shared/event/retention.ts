import { DAY_MS, epochMs, SECOND_MS, type Timestamp } from '../time.ts'

/**
 * How long what was announced is kept. Deliveries and their attempts: from when they are done. Events: from when they
 * fired, or were sent again (those that would be gone in `keepMs`); longer than a delivery is kept and can take, since it
 * sends their bytes, and longer than the feed shows them.
 */
export const RETENTION = {
  deliveryMs: 90 * DAY_MS,
  eventMs: 120 * DAY_MS,
  keepMs: 100 * DAY_MS,
  feedMs: 90 * DAY_MS,
} as const

/** The table's `ttl` for what is kept so long from then on, in whole seconds. */
export const expiresAfter = (from: Timestamp, keptMs: number): number => Math.ceil((epochMs(from) + keptMs) / SECOND_MS)
