import { DAY_MS, epochMs, HOUR_MS, type Timestamp, timestampOf } from '../../shared/time.ts'

export function jakartaMidnightAfter(at: Timestamp) {
  const aheadMs = 7 * HOUR_MS
  const days = Math.floor((epochMs(at) + aheadMs) / DAY_MS) + 1
  return timestampOf(days * DAY_MS - aheadMs)
}
