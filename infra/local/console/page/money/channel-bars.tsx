import { DAY_MS } from '../../../../../shared/time.ts'
import { rupiah } from '../../activity/activity-line.ts'
import { api, CLOCK_CALL } from '../calls.ts'
import { type Read, useRead } from '../gateway.ts'
import { jakartaDay } from '../jakarta.ts'
import { Card, Empty, ReadResult } from '../parts.tsx'
import { type Column, StackedBars, summed } from '../pictures/stacked-bars.tsx'
import { ClockSchema } from '../shapes.ts'
import type { MerchantMoney, PaidPayment } from './money-flow.ts'

const DAYS = 30
/** The number of tones for channels in page.css. */
const TONES = 6

/** What customers paid on each of thirty days, by channel. */
export function ChannelBars({ read }: { readonly read: Read<MerchantMoney> }) {
  const { value: clock } = useRead(ClockSchema, CLOCK_CALL)
  return (
    <Card
      title="Thirty days"
      note="What customers paid on each day of Jakarta, by channel."
      call={api('payments?status=succeeded&per_page=100')}
    >
      <ReadResult read={read}>
        {({ payments, total }) => (
          <>
            {clock && <Bars payments={payments} nowMs={Date.parse(clock.now)} />}
            {payments.length < total && (
              <p class="note">Only the newest {payments.length} payments are counted.</p>
            )}
          </>
        )}
      </ReadResult>
    </Card>
  )
}

type BarsProps = { readonly payments: readonly PaidPayment[]; readonly nowMs: number }

function Bars({ payments, nowMs }: BarsProps) {
  const byDay = Map.groupBy(payments, ({ paid_at: at }) => jakartaDay(at))
  const columns = Array.from({ length: DAYS }, (_, index): Column => {
    const name = jakartaDay(new Date(nowMs - (DAYS - 1 - index) * DAY_MS).toISOString())
    return { name, values: summed(byDay.get(name) ?? [], channelOf, amountOf) }
  })
  const shown = columns.flatMap(({ name }) => byDay.get(name) ?? [])
  if (shown.length === 0) return <Empty>No customer paid in these thirty days.</Empty>
  const channels = [...summed(shown, channelOf, amountOf)].toSorted(([, a], [, b]) => b - a)
  return (
    <StackedBars
      columns={columns}
      series={channels.map(([name], place) => ({ name, tone: `channel-${place % TONES}` }))}
      show={rupiah}
      caption="What customers paid, by day and channel"
      head="Day"
      height={120}
    />
  )
}

function channelOf({ channel_code: code }: PaidPayment): string {
  return code ?? 'QRIS'
}

function amountOf({ notional_minor: amount }: PaidPayment): number {
  return amount
}
