import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { counted, rupiah } from '../../story/story-line.ts'
import { ActionButton, ActionForm } from '../action-button.tsx'
import { api, operate } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Answered, Card, Empty, Field, Status } from '../parts.tsx'
import { SettlementsSchema } from '../shapes.ts'

type Settlement = v.InferOutput<typeof SettlementsSchema>['data'][number]

/** The JSON that the refusal shows. Other text is passed on, and the gateway refuses it. */
const readConfirm = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const Recorded = ({ settlement: { id } }: { readonly settlement: Settlement }) => {
  const [notes, setNotes] = useState('bank transfer')
  const [reference, setReference] = useState('')
  const [confirm, setConfirm] = useState('')
  const paid = {
    settlement_id: id,
    notes,
    ...(reference !== '' && { bank_reference: reference }),
    ...(confirm !== '' && { confirm: readConfirm(confirm) }),
  }
  return (
    <>
      <ActionForm label="Mark paid" about={id} kind="main" call={operate('mark-settlement-paid', paid)}>
        <Field label="Notes">
          <input type="text" value={notes} onInput={({ currentTarget }) => setNotes(currentTarget.value)} />
        </Field>
        <Field label="Bank reference">
          <input type="text" value={reference} onInput={({ currentTarget }) => setReference(currentTarget.value)} />
        </Field>
        <details>
          <summary>Confirm, when it is refused without it</summary>
          <Field label="The object that the refusal shows under confirm">
            <input type="text" value={confirm} onInput={({ currentTarget }) => setConfirm(currentTarget.value)} />
          </Field>
        </details>
      </ActionForm>
      <ActionButton
        label="Mark failed"
        about={id}
        kind="danger"
        call={operate('mark-settlement-failed', { settlement_id: id, notes })}
      />
    </>
  )
}

/** A settlement with the operator's actions. */
export const SettlementRow = ({ settlement }: { readonly settlement: Settlement }) => {
  const { id, status, net_minor: net, payment_count: count, period_start: from, period_end: to } = settlement
  return (
    <li class="item">
      <p class="line">
        <strong>{rupiah(net)}</strong> <Status is={status} /> <span class="muted">{counted(count, 'payment')}</span>
      </p>
      <p class="line muted">
        {from.slice(0, 16).replace('T', ' ')} to {to.slice(0, 16).replace('T', ' ')} UTC
      </p>
      <p>
        <a href={`#money/${id}`} aria-label={`its entries, settlement of ${rupiah(net)}`}>
          its entries
        </a>
      </p>
      {status === 'recorded' && <Recorded settlement={settlement} />}
      {status === 'failed' && (
        <ActionButton
          label="Credit it again"
          about={id}
          call={operate('recredit-settlement', { settlement_id: id, notes: 'in the console' })}
        />
      )}
    </li>
  )
}

/** The merchant's settlements, newest first, each with the operator's actions. */
export const SettlementsCard = () => {
  const call = api('settlements?per_page=10')
  return (
    <Card title="Settlements" note="The sweep records them; an operator transfers the money and says so." call={call}>
      <Answered read={useRead(SettlementsSchema, call)}>
        {({ data }) => (
          <>
            {data.length === 0 && <Empty>None yet. The days’ work makes one of what was paid.</Empty>}
            <ul class="rows">
              {data.map((settlement) => (
                <SettlementRow key={settlement.id} settlement={settlement} />
              ))}
            </ul>
          </>
        )}
      </Answered>
    </Card>
  )
}
