import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import { ActionButton, ActionForm } from '../action-button.tsx'
import { api, approveCall, operate } from '../calls.ts'
import { ReadCard, Rows, Status, TextField, Time } from '../parts.tsx'
import { SettlementsSchema } from '../shapes.ts'
import { NotYet, usePayoutCheck } from './payout-check.tsx'

type Settlement = v.InferOutput<typeof SettlementsSchema>['data'][number]

/** The merchant's settlements, newest first, each with the operator's actions. */
export function SettlementsCard() {
  return (
    <ReadCard
      title="Settlements"
      note="The sweep records settlements. An operator transfers the money and marks them paid."
      call={api('settlements?per_page=10')}
      schema={SettlementsSchema}
    >
      {({ data }) => (
        <Rows items={data} empty="No settlement yet. The daily work records one.">
          {(settlement) => <SettlementRow key={settlement.id} settlement={settlement} />}
        </Rows>
      )}
    </ReadCard>
  )
}

export function SettlementRow({ settlement }: { readonly settlement: Settlement }) {
  const {
    id,
    status,
    net_minor: net,
    payment_count: count,
    period_start: start,
    period_end: end,
  } = settlement
  return (
    <li class="item">
      <p class="line">
        <strong>{rupiah(net)}</strong> <Status status={status} />{' '}
        <span class="muted">{countOf(count, 'payment')}</span>
      </p>
      <p class="line muted">
        <Time at={start} /> to <Time at={end} />
      </p>
      <p>
        <a href={`#money/${id}`} aria-label={`its entries, settlement of ${rupiah(net)}`}>
          its entries
        </a>
      </p>
      {status === 'recorded' && <RecordedActions settlement={settlement} />}
      {status === 'failed' && (
        <>
          <ActionButton
            label="Approve the re-credit"
            about={id}
            call={approveCall({ action: 'recredit-settlement', payload: { settlement_id: id } })}
          />
          <ActionButton
            label="Credit it again"
            about={id}
            call={operate('recredit-settlement', { settlement_id: id, notes: 'in the console' })}
          />
        </>
      )}
    </li>
  )
}

/** Marks a settlement paid, if the gateway would take it now. Otherwise what to do first. */
function RecordedActions({ settlement: { id } }: { readonly settlement: Settlement }) {
  const [notes, setNotes] = useState('bank transfer')
  const [reference, setReference] = useState(exampleReference(id))
  const payout = { settlement_id: id, notes, bank_reference: reference }
  const { value: refusal } = usePayoutCheck(id)
  return (
    <>
      {refusal === 'none' && (
        <ActionForm
          label="Mark paid"
          about={id}
          kind="main"
          call={operate('mark-settlement-paid', payout)}
        >
          <TextField label="Bank reference" value={reference} onType={setReference} />
          <TextField label="Notes" value={notes} onType={setNotes} />
        </ActionForm>
      )}
      {refusal !== undefined && refusal !== 'none' && <NotYet id={id} refusal={refusal} />}
      <ActionButton
        label="Mark failed"
        about={id}
        kind="danger"
        call={operate('mark-settlement-failed', { settlement_id: id, notes })}
      />
    </>
  )
}

/** The name that the console gives a transfer; a person types the bank's own. */
function exampleReference(id: string): string {
  return `transfer-${id.slice(-8)}`
}
