import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { DAY_MS } from '../../../../../shared/time.ts'
import { rupiah, words } from '../../activity/activity-line.ts'
import { ActionButton } from '../action-button.tsx'
import { api, invoke, type Read, useClock, useLoad, useRead, withClientId } from '../gateway.ts'
import { jakartaDay } from '../jakarta.ts'
import { Card, Detail, Empty, Pager, ReadCard, ReadResult, Rows, Time } from '../parts.tsx'
import { Table } from '../pictures/figure-table.tsx'
import { type Column, StackedBars, summed } from '../pictures/stacked-bars.tsx'
import { BooksSchema, EntriesSchema, SettlementSchema } from '../shapes.ts'
import { FlowCard } from './flow-card.tsx'
import { loadMoney, type MerchantMoney, type PaidPayment } from './money-flow.ts'
import { SettleCard } from './settle-card.tsx'
import { SettlementRow, SettlementsCard } from './settlements-card.tsx'
import { StatementPage } from './statement-page.tsx'

/** The page's address has one of these words instead of a settlement's id. */
const [ENTRIES, STATEMENT] = ['entries', 'statement']

export function MoneyView({ selectedId }: { readonly selectedId: string | undefined }) {
  if (selectedId === STATEMENT) return <StatementPage />
  return selectedId === undefined ? (
    <Overview />
  ) : (
    <Entries key={selectedId} selectedId={selectedId} />
  )
}

function Overview() {
  const money = useLoad('money', loadMoney)
  return (
    <>
      <FlowCard read={money} />
      <div class="split even">
        <div>
          <SettleCard />
          <ChannelBars read={money} />
          <BooksCard />
        </div>
        <div>
          <SettlementsCard />
        </div>
      </div>
    </>
  )
}

function Entries({ selectedId }: { readonly selectedId: string }) {
  return (
    <Detail list="#money" label="All the money">
      {selectedId === ENTRIES ? (
        <EntriesCard
          title="Entries"
          note="Every movement of the balance, settled or not."
          path="balance/entries"
        />
      ) : (
        <>
          <ReadCard
            title="Settlement"
            call={api(`settlements/${selectedId}`)}
            schema={SettlementSchema}
          >
            {(settlement) => (
              <ul class="rows">
                <SettlementRow settlement={settlement} />
              </ul>
            )}
          </ReadCard>
          <EntriesCard
            title="Its entries"
            note="Their sum is the net of the settlement."
            path={`settlements/${selectedId}/payments`}
          />
        </>
      )}
    </Detail>
  )
}

type Books = v.InferOutput<typeof BooksSchema>

function BooksCard() {
  const [books, setBooks] = useState<Books>()
  const figures = books?.figures.filter(({ amount_minor: amount }) => amount !== 0) ?? []
  return (
    <Card
      title="Books"
      note="What moved this month, from the journal alone, and whether all sides are equal."
    >
      <p class="line">
        <ActionButton
          label="Check the books"
          call={invoke('get-books', withClientId())}
          onAnswer={({ body }) => {
            const parsed = v.safeParse(BooksSchema, body)
            if (parsed.success) setBooks(parsed.output)
          }}
        />
        <a href="#money/entries">all entries</a>
        <a href="#money/statement">the statement</a>
        {books && <span class={books.balanced ? 'good' : 'bad'}>{verdictOf(books)}</span>}
      </p>
      {figures.length > 0 && (
        <Table
          caption="The books of this month"
          heads={['Figure', 'Amount']}
          rows={figures.map(({ name, amount_minor: amount, source }) => [
            `${name.replaceAll(/[._]/g, ' ')}: ${source}`,
            rupiah(amount),
          ])}
        />
      )}
    </Card>
  )
}

function verdictOf({ figures, balanced, from, to }: Books) {
  if (!balanced) return `From ${from} to ${to} the books do not balance.`
  return figures.some(({ amount_minor: amount }) => amount !== 0)
    ? `From ${from} to ${to} the books balance.`
    : `From ${from} to ${to} there is no entry.`
}

const DAYS = 30
/** The number of tones for channels in page.css. */
const TONES = 6

/** What customers paid on each of thirty days, by channel. */
function ChannelBars({ read }: { readonly read: Read<MerchantMoney> }) {
  const clock = useClock()
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

function channelOf({ channel_code: code }: PaidPayment) {
  return code ?? 'QRIS'
}

function amountOf({ notional_minor: amount }: PaidPayment) {
  return amount
}

const PER_PAGE = 20

type Entry = v.InferOutput<typeof EntriesSchema>['data'][number]

type EntriesCardProps = { readonly title: string; readonly note: string; readonly path: string }

function EntriesCard({ title, note, path }: EntriesCardProps) {
  const [cursors, setCursors] = useState<readonly string[]>([])
  const query = new URLSearchParams({
    limit: String(PER_PAGE),
    ...(cursors.length > 0 && { after: cursors.at(-1) }),
  })
  const call = api(`${path}?${query.toString()}`)
  const read = useRead(EntriesSchema, call)
  const { next } = read.value ?? {}
  return (
    <Card title={title} note={note} call={call}>
      <ReadResult read={read}>
        {({ data }) => (
          <Rows
            items={data}
            empty="No entry yet. A payment gets one after the provider has settled it."
          >
            {(entry) => <Row key={entry.id} entry={entry} />}
          </Rows>
        )}
      </ReadResult>
      <Pager
        noun="entries"
        labels={['Earlier', 'Later']}
        onNewer={cursors.length > 0 ? () => setCursors(cursors.slice(0, -1)) : undefined}
        onOlder={next ? () => setCursors([...cursors, next]) : undefined}
      />
    </Card>
  )
}

function Row({ entry }: { readonly entry: Entry }) {
  const {
    type,
    payment_id: paymentId,
    settlement_id: settlementId,
    external_reference: reference,
  } = entry
  return (
    <li class="item">
      <p class="line">
        <strong>{rupiah(entry.client_net_minor)}</strong> <span>{words(type)}</span>
        <Time at={entry.posted_at} />
      </p>
      <p class="line muted">
        paid {rupiah(entry.notional_minor)} − fee {rupiah(entry.xendit_fee_minor)} − markup{' '}
        {rupiah(entry.hexolus_markup_minor)}
      </p>
      <p class="line">
        {reference && <span class="reference">{reference}</span>}
        {paymentId && <a href={`#payments/${paymentId}`}>its payment</a>}
        {settlementId ? (
          <a href={`#money/${settlementId}`}>its settlement</a>
        ) : (
          <span class="muted">not settled yet</span>
        )}
      </p>
    </li>
  )
}
