import * as v from 'valibot'
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
import { CLOCK_CALL, invoke, withClientId } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Time } from '../parts.tsx'
import { ClockSchema } from '../shapes.ts'
import { keptMinor, type MerchantMoney, type PaidPayment } from './money-flow.ts'

/** What the merchant gets next, and when. */
export function NextPayout({ money }: { readonly money: MerchantMoney }) {
  const { value: clock } = useRead(ClockSchema, CLOCK_CALL)
  const { value: client } = useRead(FloorSchema, invoke('get-client', withClientId()))
  const { inSettlementMinor } = money.flow
  if (!clock || !client) return null
  const next = nextSweep(money, timestampOf(Date.parse(clock.now)))
  const nextMinor = next?.minor ?? 0
  const floor = client.settlement_floor_minor
  return (
    <p class="line">
      <strong>Next payout</strong>
      {inSettlementMinor > 0 && (
        <span>{rupiah(inSettlementMinor)} is settled and not paid out yet.</span>
      )}
      {next && nextMinor > floor && (
        <span>
          About {rupiah(nextMinor)} is settled by the sweep of <Time at={next.at} />.
        </span>
      )}
      {nextMinor > 0 && nextMinor <= floor && (
        <span>
          {rupiah(nextMinor)} waits: a sweep settles more than {rupiah(floor)}.
        </span>
      )}
      {inSettlementMinor <= 0 && nextMinor <= 0 && <span>Nothing waits.</span>}
    </p>
  )
}

const FloorSchema = v.object({ settlement_floor_minor: v.number() })

/**
 * The next sweep that finds money, and about how much: by the channels' usual times, without
 * holidays. Undefined if no money waits for a sweep.
 */
function nextSweep({ balance, payments }: MerchantMoney, now: Timestamp) {
  const open = payments
    .filter(({ fee_status: fee }) => fee === 'estimated')
    .map((payment) => ({ readyAt: readyAt(payment), minor: keptMinor(payment) }))
  const openMinor = open.reduce((sum, { minor }) => sum + minor, 0)
  const postedMinor = balance.pending_minor - openMinor + balance.available_minor
  const [first] = postedMinor > 0 ? [now] : open.map((payment) => payment.readyAt).toSorted()
  if (first === undefined) return undefined
  const at = sweepAfter(later(first, now))
  const ready = open.filter((payment) => payment.readyAt <= at)
  return { at, minor: ready.reduce((sum, { minor }) => sum + minor, postedMinor) }
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
