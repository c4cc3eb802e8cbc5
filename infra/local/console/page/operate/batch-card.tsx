import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import { ActionForm } from '../action-button.tsx'
import { operate } from '../calls.ts'
import { Card, SelectField, TextField } from '../parts.tsx'
import { BankAnswer } from './bank-answer.tsx'
import { type LiveBatch, recordsOf } from './load-payouts.ts'
import { type PayoutFile, PayoutRunSchema } from './operate-shapes.ts'
import { FORMATS, PayoutDownload } from './payout-download.tsx'

type BatchCardProps = {
  readonly batch: LiveBatch
  /** Called with what became of the answered lines. */
  readonly onAnswered: (text: string) => void
}

/** A batch whose file may be at the bank: its payouts, the bank's answer, and the cancel. */
export function BatchCard({ batch, onAnswered }: BatchCardProps) {
  const { number, count, totalMinor, open } = batch
  return (
    <Card title={`Batch ${number}`} call={recordsOf(number)}>
      <p>
        {count === undefined
          ? 'It is not finished. The next run finishes it.'
          : `${countOf(count, 'payout')}, ${rupiah(totalMinor ?? 0)}. ` +
            `The bank has not answered ${open.length} of them.`}
      </p>
      <BankAnswer batch={number} payouts={open} onAnswered={onAnswered} />
      <details>
        <summary>The file again, or cancel the batch</summary>
        <FileAgain number={number} />
        <Cancel number={number} />
      </details>
    </Card>
  )
}

/** Only before the bank has paid: the gateway refuses it after the first answer. */
function FileAgain({ number }: Pick<LiveBatch, 'number'>) {
  const [format, setFormat] = useState('xlsx')
  const [file, setFile] = useState<PayoutFile>()
  return (
    <>
      <ActionForm
        label="Make the file again"
        about={`of batch ${number}`}
        call={operate('payout-file', { batch: number, format })}
        onAnswer={({ body }) => {
          const run = v.safeParse(PayoutRunSchema, body)
          setFile(run.success ? (run.output.file ?? undefined) : undefined)
        }}
      >
        <SelectField
          label="File"
          aria-label={`File of batch ${number}`}
          value={format}
          options={FORMATS}
          onChoose={setFormat}
        />
      </ActionForm>
      {file && (
        <p>
          <PayoutDownload file={file} />
        </p>
      )}
    </>
  )
}

function Cancel({ number }: Pick<LiveBatch, 'number'>) {
  const [notes, setNotes] = useState('')
  return (
    <>
      <p class="note">
        Cancel it only if no bank was given its file: a bank that has the file pays it. A second
        person approves the cancel; then cancel again.
      </p>
      <ActionForm
        label="Cancel the batch"
        about={String(number)}
        kind="danger"
        call={operate('payout-file', { cancel: number, notes: notes || 'in the console' })}
      >
        <TextField
          label="Why"
          aria-label={`Why batch ${number} is cancelled`}
          value={notes}
          onType={setNotes}
        />
      </ActionForm>
    </>
  )
}
