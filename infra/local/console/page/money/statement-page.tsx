import { useContext, useState } from 'preact/hooks'
import { CLOCK_CALL } from '../calls.ts'
import { useLoad, useRead } from '../gateway.ts'
import { jakartaDay } from '../jakarta.ts'
import { NoticeContext } from '../notice.tsx'
import { Card, Detail, ReadResult, TextField } from '../parts.tsx'
import { ClockSchema } from '../shapes.ts'
import { type Days, loadStatement, loadStatementCsv, statementCall } from './load-statement.ts'
import { PrintedStatement } from './printed-statement.tsx'

const NOTE =
  'The days are those of Jakarta, at most 100. Payments that the provider has not settled yet ' +
  'are not in it.'

/** The merchant's statement for days of Jakarta, by default this month. It prints alone. */
export function StatementPage() {
  const { value: clock } = useRead(ClockSchema, CLOCK_CALL)
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

/** Saves the lines as CSV, as the gateway writes it for programs. */
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
