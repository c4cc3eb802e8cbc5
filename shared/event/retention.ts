import { DAY_MS, epochMs, SECOND_MS, type Timestamp } from '../time.ts'

/**
 * How long events and deliveries are kept. A delivery and its attempts: from its end. An event: from when it fired or
 * was sent again, longer than a delivery is kept and can take, because the delivery sends its bytes, and longer than
 * the feed shows it.
 */
export const RETENTION = {
  deliveryMs: 90 * DAY_MS,
  eventMs: 120 * DAY_MS,
  keepMs: 100 * DAY_MS,
  feedMs: 90 * DAY_MS,
} as const

/** The table's `ttl` of an item that is kept this long, in whole seconds. */
export const expiresAfter = (from: Timestamp, keptMs: number): number => Math.ceil((epochMs(from) + keptMs) / SECOND_MS)
