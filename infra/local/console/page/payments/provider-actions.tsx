import { useState } from 'preact/hooks'
import { words } from '../../story/story-line.ts'
import { ActionButton, ActionForm } from '../action-button.tsx'
import { atProvider } from '../calls.ts'
import { Field, Select, TextField } from '../parts.tsx'
import type { Timeline } from '../shapes.ts'

const KINDS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback_reversal'].map(
  (kind) => [kind, words(kind)] as const,
)

/** The customer's actions at the provider while the payment is open; after that, the reversals. */
export const ProviderActions = ({ payment }: { readonly payment: Timeline }) => {
  const [kind, setKind] = useState('refund')
  const [amount, setAmount] = useState('')
  const request = payment.payment_request_id
  if (payment.status === 'pending') {
    return (
      <div class="actions">
        <h3>As its customer</h3>
        <ActionButton label="Pay" kind="main" call={atProvider(request, 'simulate')} />
        <ActionButton label="Fail" call={atProvider(request, 'fail')} />
        <ActionButton label="Let expire" call={atProvider(request, 'expire')} />
      </div>
    )
  }
  if (payment.status !== 'succeeded') return null
  const body = { kind, ...(amount !== '' && { amount: Number(amount) }) }
  return (
    <details class="actions">
      <summary>Let the money go back</summary>
      <ActionForm label="Reverse" kind="danger" call={atProvider(request, 'reverse', body)}>
        <Field label="How it goes back">
          <Select value={kind} options={KINDS} onChoose={setKind} />
        </Field>
        <TextField label="Amount (empty: all)" type="number" min="1" value={amount} onType={setAmount} />
      </ActionForm>
      <p class="note">The gateway hears of it by a callback, or when it reads the provider’s transactions.</p>
    </details>
  )
}
