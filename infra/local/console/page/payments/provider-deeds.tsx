import { useState } from 'preact/hooks'
import { atProvider } from '../calls.ts'
import { Deed } from '../deed.tsx'
import { Field } from '../parts.tsx'
import type { Timeline } from '../shapes.ts'

const KINDS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback_reversal'] as const

/** What the customer does at the provider while the payment is open; afterwards, how the money goes back. */
export const ProviderDeeds = ({ payment }: { readonly payment: Timeline }) => {
  const [kind, setKind] = useState<string>('refund')
  const [amount, setAmount] = useState('')
  const request = payment.payment_request_id
  if (payment.status === 'pending') {
    return (
      <div class="deeds">
        <h3>As its customer</h3>
        <Deed label="Pay" kind="main" call={atProvider(request, 'simulate')} />
        <Deed label="Fail" call={atProvider(request, 'fail')} />
        <Deed label="Let expire" call={atProvider(request, 'expire')} />
      </div>
    )
  }
  if (payment.status !== 'succeeded') return null
  const body = { kind, ...(amount !== '' && { amount: Number(amount) }) }
  return (
    <details class="deeds">
      <summary>Let the money go back</summary>
      <div class="line">
        <Field label="How it goes back">
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value)}>
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {one.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Amount (empty: all)">
          <input type="number" min="1" value={amount} onInput={({ currentTarget }) => setAmount(currentTarget.value)} />
        </Field>
        <Deed label="Reverse" kind="danger" call={atProvider(request, 'reverse', body)} />
      </div>
      <p class="note">The gateway hears of it by a callback, or when it reads the provider’s transactions.</p>
    </details>
  )
}
