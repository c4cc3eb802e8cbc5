import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import { ActionForm } from '../action-button.tsx'
import { operate } from '../gateway.ts'
import { Card, SelectField, TextField } from '../parts.tsx'
import { type LiveBatch, recordsOf } from './load-payouts.ts'
import {
  type Answered,
  AnsweredSchema,
  type Payout,
  type PayoutFile,
  PayoutRunSchema,
} from './operate-shapes.ts'
import { FORMATS, PayoutDownload, PayoutFacts } from './payout-text.tsx'

type BatchCardProps = { readonly batch: LiveBatch; readonly onAnswered: (text: string) => void }

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

/** The gateway refuses it after the bank's first answer. */
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

/** The action's limit. The next lines follow. */
const MOST_LINES = 100

type Typed = { readonly outcome: '' | 'paid' | 'failed'; readonly text: string }

const UNANSWERED: Typed = { outcome: '', text: '' }

const OUTCOMES = [
  ['', 'not answered yet'],
  ['paid', 'paid'],
  ['failed', 'failed'],
] as const

type BankAnswerProps = {
  readonly batch: number
  readonly payouts: readonly Payout[]
  readonly onAnswered: (text: string) => void
}

/** A single call writes the answered lines. A refused line shows its reason, and stops no line. */
function BankAnswer({ batch, payouts, onAnswered }: BankAnswerProps) {
  const [typed, setTyped] = useState<ReadonlyMap<string, Typed>>(new Map())
  const [isOneDebit, setOneDebit] = useState(false)
  const [answered, setAnswered] = useState<Answered>()
  const shown = payouts.slice(0, MOST_LINES)
  const typedOf = ({ id }: Payout) => typed.get(id) ?? UNANSWERED
  const lines = shown.flatMap((payout, at) => {
    const { outcome, text } = typedOf(payout)
    return outcome === '' ? [] : lineOf(payout, { line: at + 1, batch, outcome, text, isOneDebit })
  })
  return (
    <ActionForm
      label="Write the bank’s answer down"
      about={`of batch ${batch}`}
      kind="main"
      disabled={lines.length === 0}
      call={operate('payout-answer', { lines })}
      onAnswer={({ body }) => {
        const parsed = v.safeParse(AnsweredSchema, body)
        if (!parsed.success) return
        const { done, failed, refused } = parsed.output
        setAnswered(parsed.output)
        onAnswered(`Batch ${batch}: ${done} paid, ${failed} failed, ${refused} refused.`)
      }}
    >
      <ol class="rows">
        {shown.map((payout) => (
          <Line
            key={payout.id}
            payout={payout}
            typed={typedOf(payout)}
            reason={answered?.lines.find((line) => line.settlement_id === payout.id)?.reason}
            onType={(next) => setTyped(new Map([...typed, [payout.id, next]]))}
          />
        ))}
      </ol>
      {payouts.length > shown.length && (
        <p class="note">{countOf(payouts.length - shown.length, 'more line')} will follow.</p>
      )}
      {shown.length > 1 && (
        <label class="check">
          <input
            type="checkbox"
            checked={isOneDebit}
            onChange={({ currentTarget }) => setOneDebit(currentTarget.checked)}
          />
          The bank made one debit for the whole batch, with one reference
        </label>
      )}
    </ActionForm>
  )
}

type LineProps = {
  readonly payout: Payout
  readonly typed: Typed
  readonly reason: string | undefined
  readonly onType: (typed: Typed) => void
}

function Line({ payout, typed, reason, onType }: LineProps) {
  const { outcome, text } = typed
  const label = outcome === 'failed' ? 'Reason in the bank’s words' : 'Bank reference'
  return (
    <li class="item">
      <PayoutFacts payout={payout} />
      <div class="line wide">
        <SelectField
          label="The bank’s answer"
          aria-label={`The bank’s answer to ${payout.id}`}
          value={outcome}
          options={OUTCOMES}
          onChoose={(chosen) => {
            const found = OUTCOMES.find(([value]) => value === chosen)
            onType({ text, outcome: found?.[0] ?? '' })
          }}
        />
        <TextField
          label={label}
          aria-label={`${label} of ${payout.id}`}
          value={text}
          onType={(next) =>
            onType({ text: next, outcome: outcome === '' && next !== '' ? 'paid' : outcome })
          }
        />
      </div>
      {reason !== undefined && <p class="bad">Refused: {reason}</p>}
    </li>
  )
}

type Filled = {
  readonly line: number
  readonly batch: number
  readonly outcome: 'paid' | 'failed'
  readonly text: string
  readonly isOneDebit: boolean
}

function lineOf(payout: Payout, { line, batch, outcome, text, isOneDebit }: Filled): object {
  return {
    line,
    batch,
    outcome,
    settlement_id: payout.id,
    amount_minor: payout.net_minor,
    bank_account_no: payout.bank_account_no ?? 'none',
    ...(text !== '' && (outcome === 'paid' ? { bank_reference: text } : { reason: text })),
    ...(outcome === 'paid' && isOneDebit && { is_one_debit: true }),
  }
}
