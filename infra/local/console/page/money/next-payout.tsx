import { DAILY_TIMES } from '../../../../../functions/daily-times.ts'
import { expectedSettlement } from '../../../../../shared/payment/channel/channel-timing.ts'
import {
  addMs,
  DAY_MS,
  epochMs,
  HOUR_MS,
  later,
  MINUTE_MS,
  type Timestamp,
  timestampOf,
} from '../../../../../shared/time.ts'
import { rupiah } from '../../activity/activity-line.ts'
import { CLOCK_CALL } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Time } from '../parts.tsx'
import { ClockSchema } from '../shapes.ts'
import type { MerchantMoney, PaidPayment } from './money-flow.ts'

/** What the merchant gets next, and when. */
export function NextPayout({ money }: { readonly money: MerchantMoney }) {
  const { value: clock } = useRead(ClockSchema, CLOCK_CALL)
  const { inSettlementMinor } = money.flow
  const next = clock && nextSweep(money, timestampOf(Date.parse(clock.now)))
  return (
    <p class="line">
      <strong>Next payout</strong>
      {inSettlementMinor > 0 && (
        <span>{rupiah(inSettlementMinor)} as soon as an operator pays it out.</span>
      )}
      {next && (
        <span>
          About {rupiah(next.minor)} is settled by the sweep of <Time at={next.at} />.
        </span>
      )}
      {inSettlementMinor <= 0 && !next && <span>Nothing waits.</span>}
    </p>
  )
}

/**
 * The next sweep that finds money, and about how much: by the channels' usual times, without
 * holidays. Undefined if no money waits for a sweep.
 */
export function nextSweep({ balance, payments }: MerchantMoney, now: Timestamp) {
  const open = payments.filter(({ fee_status: fee }) => fee === 'estimated')
  const openMinor = open.reduce((sum, { client_net_minor: net }) => sum + net, 0)
  const postedMinor = Math.max(0, balance.pending_minor - openMinor) + balance.available_minor
  const readyTimes = open.map(readyAt)
  const [first] = postedMinor > 0 ? [now] : readyTimes.toSorted()
  if (first === undefined) return undefined
  const at = sweepAfter(later(first, now))
  const minor = open.reduce(
    (sum, { client_net_minor: net }, index) => sum + ((readyTimes[index] ?? at) <= at ? net : 0),
    postedMinor,
  )
  return { at, minor }
}

/** A payment is settled when the provider has settled it, and a day after it was paid. */
function readyAt({ method, channel_code: code, paid_at: paid }: PaidPayment): Timestamp {
  const paidAt = timestampOf(Date.parse(paid))
  const settled = expectedSettlement({ method, channelCode: code ?? undefined }, paidAt)
  return later(settled, addMs(paidAt, DAY_MS))
}

function sweepAfter(time: Timestamp): Timestamp {
  const { hour, minute } = DAILY_TIMES.sweepAtUtc
  const ofDay = hour * HOUR_MS + minute * MINUTE_MS
  const days = Math.ceil((epochMs(time) - ofDay) / DAY_MS)
  return timestampOf(days * DAY_MS + ofDay)
}
