import { addMs, DAY_MS, epochMs, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import { type ChannelChoice, channelOf } from './channels.ts'

/** Indonesia's west keeps UTC+7 all year. */
const JAKARTA_OFFSET_MS = 7 * HOUR_MS
/** "Instant" takes the provider some five minutes. */
const INSTANT_MS = 5 * MINUTE_MS

const isBusinessDay = (at: Timestamp): boolean => {
  // The epoch began on a Thursday.
  const weekday = (Math.floor((epochMs(at) + JAKARTA_OFFSET_MS) / DAY_MS) + 4) % 7
  return weekday !== 0 && weekday !== 6
}

/**
 * When the provider usually settles money that it received at `paidAt`, by the channel's business days. Holidays are
 * not known. For rows without a settlement time.
 */
export const expectedSettlement = (choice: ChannelChoice, paidAt: Timestamp): Timestamp => {
  const { settlesAtOnce, settlementDays = 2 } = channelOf(choice)
  if (settlesAtOnce) return addMs(paidAt, INSTANT_MS)
  let at = paidAt
  for (let left = settlementDays; left > 0; ) {
    at = addMs(at, DAY_MS)
    if (isBusinessDay(at)) left--
  }
  return at
}
