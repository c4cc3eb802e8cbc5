import * as v from 'valibot'
import { DAILY_TIMES } from '../../../../../functions/daily-times.ts'
import { expectedSettlement } from '../../../../../shared/channel/channel-timing.ts'
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
import { api, invoke, type Read, useClock, useRead, withClientId } from '../gateway.ts'
import { Card, Empty, ReadResult, Time } from '../parts.tsx'
import { FigureTable } from '../pictures/figure-table.tsx'
import { type Bar, type End, SIZE, type Station, sankeyOf } from '../pictures/sankey.ts'
import {
  keptMinor,
  type MerchantMoney,
  type MoneyFlow,
  ownedMinor,
  type PaidPayment,
} from './money-flow.ts'

/** Where all the money of the merchant's customers is, as a picture and as a table. */
export function FlowCard({ read }: { readonly read: Read<MerchantMoney> }) {
  return (
    <Card
      title="Where the money is"
      note="From the customers through fees, pending and settlements to the merchant’s bank."
      call={api('balance?include=settlements')}
    >
      <ReadResult read={read}>{(money) => <Flow money={money} />}</ReadResult>
    </Card>
  )
}

function Flow({ money }: { readonly money: MerchantMoney }) {
  const { flow, balance, payments, total } = money
  const owedMinor = Math.max(0, -(flow.pendingMinor + flow.availableMinor))
  if (flow.grossMinor === 0 && ownedMinor(balance) === 0) {
    return (
      <Empty>
        No customer has paid yet. <a href="#payments">Create a payment</a> and pay it.
      </Empty>
    )
  }
  return (
    <>
      {owedMinor === 0 ? (
        <Picture flow={flow} />
      ) : (
        <p class="line bad">
          More went back than waits for a payout: the merchant owes {rupiah(owedMinor)}.
        </p>
      )}
      {payments.length < total && (
        <p class="note">
          The picture has the newest {payments.length} of {total} paid payments.
        </p>
      )}
      <NextPayout money={money} />
      <FigureTable
        caption="Where the money is"
        heads={['Place', 'Amount']}
        isOpen={owedMinor > 0}
        rows={placesOf(flow).map(([name, minor]) => [name, rupiah(minor)])}
      />
    </>
  )
}

const LABEL_GAP = 8
/** A label has its name above this middle and its amount below. */
const HALF_LINE = 3

function Picture({ flow }: { readonly flow: MoneyFlow }) {
  const { bars, ribbons, height } = sankeyOf(stationsOf(flow))
  const sentence = placesOf(flow).map(([name, minor]) => `${name} ${rupiah(minor)}`)
  return (
    <svg
      class="sankey"
      role="img"
      aria-label={`The flow of the money: ${sentence.join(', ')}`}
      viewBox={`0 -16 ${SIZE.width} ${height + 32}`}
    >
      {ribbons.map(({ tone, path }) => (
        <path key={path} class={`ribbon ${tone}`} d={path} />
      ))}
      {bars.map((bar) => (
        <BarWithLabel key={bar.name} bar={bar} />
      ))}
    </svg>
  )
}

function BarWithLabel({ bar: { name, minor, tone, x, y, height } }: { readonly bar: Bar }) {
  const middle = y + height / 2
  const textX = x + SIZE.barWidth + LABEL_GAP
  return (
    <g>
      <rect class={`bar ${tone}`} x={x} y={y} width={SIZE.barWidth} height={height} />
      <text x={textX} y={middle - HALF_LINE}>
        {name}
      </text>
      <text class="amount" x={textX} y={middle + HALF_LINE + 11}>
        {rupiah(minor)}
      </text>
    </g>
  )
}

/** What the shown payments do not explain. */
const OTHERS = 'Corrections, earlier payments'

function stationsOf(flow: MoneyFlow) {
  const settledMinor = flow.inSettlementMinor + flow.paidOutMinor
  const creditedMinor = flow.pendingMinor + flow.availableMinor + settledMinor
  const stations: readonly Station[] = [
    {
      name: flow.otherMinor < 0 ? 'Customers, others' : 'Customers paid',
      minor: flow.grossMinor + Math.max(0, -flow.otherMinor),
      ends: ends('cost', [
        ['Provider’s fees', flow.feesMinor],
        ['Our markup', flow.markupMinor],
        ['Given back', flow.givenBackMinor],
        [OTHERS, flow.otherMinor],
      ]),
    },
    {
      name: 'Credited',
      minor: Math.max(0, creditedMinor),
      ends: ends('own', [
        ['Pending', flow.pendingMinor],
        ['Available', flow.availableMinor],
      ]),
    },
    {
      name: 'Settled',
      minor: settledMinor,
      ends: ends('own', [['To be paid out', flow.inSettlementMinor]]),
    },
    { name: 'Paid out', minor: flow.paidOutMinor, ends: [] },
  ]
  return stations.filter(({ minor }, index) => index === 0 || minor > 0)
}

/** Only the table has a place without money. */
function ends(
  tone: End['tone'],
  places: readonly (readonly [name: string, minor: number])[],
): readonly End[] {
  return places.filter(([, minor]) => minor > 0).map(([name, minor]) => ({ name, minor, tone }))
}

function placesOf(flow: MoneyFlow): readonly (readonly [name: string, minor: number])[] {
  const corrections: readonly (readonly [string, number])[] =
    flow.otherMinor === 0 ? [] : [[OTHERS, -flow.otherMinor]]
  return [
    ['Paid by customers', flow.grossMinor],
    ['Provider’s fees', flow.feesMinor],
    ['Our markup', flow.markupMinor],
    ['Given back', flow.givenBackMinor],
    ...corrections,
    ['Pending', flow.pendingMinor],
    ['Available', flow.availableMinor],
    ['To be paid out', flow.inSettlementMinor],
    ['Paid out', flow.paidOutMinor],
  ]
}

function NextPayout({ money }: { readonly money: MerchantMoney }) {
  const clock = useClock()
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
 * holidays. Undefined if no money waits.
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

/** The provider has settled it, and a day has passed since the payment. */
function readyAt({ method, channel_code: code, paid_at: paid }: PaidPayment) {
  const paidAt = timestampOf(Date.parse(paid))
  const settled = expectedSettlement({ method, channelCode: code ?? undefined }, paidAt)
  return later(settled, addMs(paidAt, DAY_MS))
}

function sweepAfter(time: Timestamp) {
  const { hour, minute } = DAILY_TIMES.sweepAtUtc
  const ofDay = hour * HOUR_MS + minute * MINUTE_MS
  const days = Math.ceil((epochMs(time) - ofDay) / DAY_MS)
  return timestampOf(days * DAY_MS + ofDay)
}
