import type { SettlementRule } from '../channels.ts'

const DAY_MS = 86_400_000
// Indonesia's west keeps UTC+7 all year.
const JAKARTA_OFFSET_MS = 7 * 3_600_000

/**
 * When a capture of `capturedMs` is settled, in milliseconds since the epoch.
 * Business days are counted at the same time of day, Saturdays and Sundays in Jakarta passed over; holidays are not known.
 */
export const settlementTime = (rule: SettlementRule, capturedMs: number) => {
  if ('afterSeconds' in rule) return capturedMs + rule.afterSeconds * 1000
  let settledMs = capturedMs
  for (let left = rule.businessDays; left > 0; ) {
    settledMs += DAY_MS
    if (isBusinessDay(settledMs)) left -= 1
  }
  return settledMs
}

const isBusinessDay = (ms: number) => {
  const weekday = new Date(ms + JAKARTA_OFFSET_MS).getUTCDay()
  return weekday !== 0 && weekday !== 6
}
