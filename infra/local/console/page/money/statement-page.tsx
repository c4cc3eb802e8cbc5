import { useContext, useState } from 'preact/hooks'
import * as v from 'valibot'
import { words } from '../../activity/activity-line.ts'
import { api, invoke, type Loaded, useClock, useLoad, useRead, withClientId } from '../gateway.ts'
import { jakartaDay, jakartaMinute, jakartaMinuteOfDay, utcTime } from '../jakarta.ts'
import { NoticeContext } from '../notice.tsx'
import { Card, Detail, ReadResult, TextField } from '../parts.tsx'
import { readAllPages } from '../read-pages.ts'
import { useSession } from '../session.ts'
import { ClientSchema, NumberOrNull, numbers, TextOrNull, texts } from '../shapes.ts'

const NOTE =
  'The days are those of Jakarta, at most 100. Payments that the provider has not settled yet ' +
  'are not in it.'

/** By default this month. */
export function StatementPage() {
  const clock = useClock()
  return (
    <Detail list="#money" label="All the money">
      {clock && <Chosen today={jakartaDay(clock.now)} />}
    </Detail>
  )
}

function Chosen({ today }: { readonly today: string }) {
  const [days, setDays] = useState<Days>({ from: `${today.slice(0, 8)}01`, to: today })
  const read = useLoad(JSON.stringify(days), () => loadStatement(days))
  return (
    <>
      <Card title="Statement" note={NOTE} call={statementCall(days)}>
        <div class="line">
          <TextField
            label="From"
            type="date"
            value={days.from}
            onType={(from) => setDays({ ...days, from })}
          />
          <TextField
            label="To"
            type="date"
            value={days.to}
            onType={(to) => setDays({ ...days, to })}
          />
        </div>
        <p class="line">
          <span class="action main">
            <button type="button" disabled={!read.value} onClick={() => print()}>
              Print
            </button>
          </span>
          <CsvButton days={days} />
        </p>
      </Card>
      <ReadResult read={read} title="The statement cannot be shown">
        {(statement) => <PrintedStatement statement={statement} />}
      </ReadResult>
    </>
  )
}

function CsvButton({ days }: { readonly days: Days }) {
  const showNotice = useContext(NoticeContext)
  const save = async () => {
    const loaded = await loadStatementCsv(days)
    if (!('value' in loaded))
      return showNotice({ text: `No CSV was saved: ${loaded.error}`, ok: false })
    const url = URL.createObjectURL(new Blob([loaded.value], { type: 'text/csv' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `statement-${days.from}-${days.to}.csv`
    link.click()
    URL.revokeObjectURL(url)
    return showNotice({ text: `${link.download} saved`, ok: true })
  }
  return (
    <span class="action">
      <button type="button" onClick={() => void save()}>
        Save as CSV
      </button>
    </span>
  )
}

/** The printed page has nothing else: see page.css. */
function PrintedStatement({ statement }: { readonly statement: Statement }) {
  const { merchant } = useSession()
  const { value: client } = useRead(ClientSchema, invoke('get-client', withClientId()))
  const { from, to, openingMinor, lines, closingMinor, finalUntil } = statement
  const last = lines.at(-1)?.balanceMinor ?? openingMinor
  return (
    <section class="card statement" aria-label="The statement">
      <h2>Statement of {client?.name ?? 'the merchant'}</h2>
      <p class="muted">
        {from} to {to}, days of Jakarta · merchant <code>{merchant.client_id}</code>
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Time in Jakarta</th>
            <th scope="col">What</th>
            <th scope="col">Amount, IDR</th>
            <th scope="col">Owed to you, IDR</th>
          </tr>
        </thead>
        <tbody>
          <SumRow name={`At the start of ${from}`} minor={openingMinor} />
          {lines.map((line, place) => (
            <Line key={`${place} ${line.at}`} line={line} />
          ))}
          {closingMinor !== null && <SumRow name={`At the end of ${to}`} minor={closingMinor} />}
        </tbody>
      </table>
      {lines.length === 0 && <p class="empty">Nothing moved in these days.</p>}
      {closingMinor === null && (
        <p class="bad">The statement is longer than this page shows. Choose fewer days.</p>
      )}
      {closingMinor !== null && closingMinor !== last && (
        <p class="bad">
          The lines end at {amountOf(last)}, and not at {amountOf(closingMinor)}. Pay nothing out,
          and run audit-ledger.
        </p>
      )}
      <p class="note">{finalText(finalUntil)}</p>
    </section>
  )
}

function SumRow({ name, minor }: { readonly name: string; readonly minor: number }) {
  return (
    <tr class="sum">
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td>{amountOf(minor)}</td>
    </tr>
  )
}

function Line({ line }: { readonly line: StatementLine }) {
  const {
    at,
    type,
    external_reference: reference,
    payment_id: paymentId,
    settlement_id: settlementId,
  } = line
  const id = paymentId ?? settlementId
  return (
    <tr>
      <td>
        <time dateTime={at} title={utcTime(at)}>
          <span>{jakartaDay(at)}</span> <span>{jakartaMinuteOfDay(at)}</span>
        </time>
      </td>
      <td>
        {id === undefined ? (
          words(type)
        ) : (
          <a href={paymentId === undefined ? `#money/${id}` : `#payments/${id}`}>{words(type)}</a>
        )}{' '}
        <span class="muted">{reference ?? id}</span>
      </td>
      <td>{amountOf(line.amount_minor)}</td>
      <td>{amountOf(line.balanceMinor)}</td>
    </tr>
  )
}

/** The table's heads name the currency. */
function amountOf(minor: number) {
  return minor.toLocaleString('en-US').replace('-', '−')
}

function finalText(finalUntil: string) {
  return `Lines before ${jakartaMinute(finalUntil)} are final: none changes, and none is added before this time. Later lines can still change.`
}

const LineFields = v.object({
  ...texts('at', 'type'),
  ...v.entriesFromList(
    ['payment_id', 'settlement_id', 'external_reference'],
    v.optional(v.string()),
  ),
  ...numbers('amount_minor'),
})

const PageSchema = v.object({
  ...texts('from', 'to', 'final_until'),
  ...numbers('opening_minor'),
  lines: v.array(LineFields),
  closing_minor: NumberOrNull,
  next: TextOrNull,
})

const CsvSchema = v.object({ csv: v.string(), cursor: v.optional(v.string()) })

type Days = { readonly from: string; readonly to: string }

type StatementLine = v.InferOutput<typeof LineFields> & { readonly balanceMinor: number }

type Statement = Days & {
  readonly openingMinor: number
  readonly lines: readonly StatementLine[]
  /** Null if the statement has more lines than the page reads. */
  readonly closingMinor: number | null
  /** Lines before this time never change. */
  readonly finalUntil: string
}

/** A browser prints more than 10,000 lines with trouble. */
const PER_PAGE = 1_000
const MOST_PAGES = 10

async function loadStatement(days: Days): Promise<Loaded<Statement>> {
  const read = await readAllPages({
    schema: PageSchema,
    most: MOST_PAGES,
    callOf: (_page, last) => statementCall(days, last?.next ?? undefined),
    hasNext: ({ next }) => next !== null,
  })
  if (!('value' in read)) return read
  const { pages, isWhole } = read.value
  const [first, last] = [pages[0], pages.at(-1)]
  if (!first || !last) return { error: 'The statement has no page.', isTemporary: true }
  let balanceMinor = first.opening_minor
  const lines = pages
    .flatMap((page) => page.lines)
    .map((line) => {
      balanceMinor += line.amount_minor
      return { ...line, balanceMinor }
    })
  return {
    value: {
      from: first.from,
      to: first.to,
      openingMinor: first.opening_minor,
      lines,
      closingMinor: isWhole ? last.closing_minor : null,
      finalUntil: last.final_until,
    },
  }
}

function statementCall(days: Days, after?: string) {
  const query = new URLSearchParams({
    ...days,
    limit: String(PER_PAGE),
    ...(after !== undefined && { after }),
  })
  return api(`statement?${query.toString()}`)
}

async function loadStatementCsv(days: Days): Promise<Loaded<string>> {
  const read = await readAllPages({
    schema: CsvSchema,
    most: MOST_PAGES,
    callOf: (_page, last) =>
      invoke(
        'get-statement',
        withClientId({
          ...days,
          format: 'csv',
          ...(last?.cursor !== undefined && { cursor: last.cursor }),
        }),
      ),
    hasNext: ({ cursor }) => cursor !== undefined,
  })
  if (!('value' in read)) return read
  if (!read.value.isWhole)
    return { error: 'The statement is too long. Choose fewer days.', isTemporary: false }
  return { value: read.value.pages.map(({ csv }) => csv).join('') }
}
