import { useState } from 'preact/hooks'
import { ActionForm } from '../action-button.tsx'
import { operate } from '../calls.ts'
import { Card, Rows, TextField } from '../parts.tsx'
import type { Payout } from './operate-shapes.ts'
import { PayoutFacts } from './payout-text.tsx'

const NOTE =
  'Correct the bank details, then credit the money again: the next settlement pays it. A second ' +
  'person first sees at the bank that the transfer did not go out.'

/** Payouts that the bank refused. Their money waits until it is credited again. */
export function FailedPayoutsCard({ failed }: { readonly failed: readonly Payout[] }) {
  return (
    <Card title="Failed payouts" note={NOTE}>
      <Rows items={failed} empty="None.">
        {(payout) => <Row key={payout.id} payout={payout} />}
      </Rows>
    </Card>
  )
}

function Row({ payout }: { readonly payout: Payout }) {
  const [notes, setNotes] = useState('')
  return (
    <li class="item">
      <PayoutFacts payout={payout} />
      {payout.notes !== null && <p class="bad">{payout.notes}</p>}
      <ActionForm
        label="Credit it again"
        about={payout.id}
        call={operate('recredit-settlement', {
          settlement_id: payout.id,
          notes: notes || 'in the console',
        })}
      >
        <TextField
          label="Notes"
          aria-label={`Notes on ${payout.id}`}
          value={notes}
          onType={setNotes}
        />
      </ActionForm>
    </li>
  )
}
