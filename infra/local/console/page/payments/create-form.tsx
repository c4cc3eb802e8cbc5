import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { CHANNELS } from '../../../../../shared/payment/channel/channels.ts'
import { ActionForm } from '../action-button.tsx'
import { apiPost } from '../calls.ts'
import { Card, Field } from '../parts.tsx'
import { goTo } from '../route.ts'
import { CreatedSchema } from '../shapes.ts'

const KINDS = { virtual_account: 'Bank transfer', ewallet: 'Wallet', qris: 'QR code' } as const

/** A shop's choice: every channel that has its own terms. */
const OFFERED = CHANNELS.map(({ method, code, push }) => ({
  value: code === '' ? method : `${method} ${code}`,
  label: `${KINDS[method]} · ${code || method.toUpperCase()}${push ? ' (asks on the phone)' : ''}`,
}))

const newKey = () => `console-${crypto.randomUUID()}`

/** Creates a payment as a merchant's server does. After a lost answer, a press retries with the same key. */
export const CreateForm = () => {
  const [channel, setChannel] = useState<string>('qris')
  const [amount, setAmount] = useState('150000')
  const [reference, setReference] = useState('')
  const [phone, setPhone] = useState('+6281234567890')
  const [key, setKey] = useState(newKey)
  const [method = '', code] = channel.split(' ')
  const isWallet = method === 'ewallet'
  const body = {
    method,
    ...(code !== undefined && { channel_code: code }),
    amount: Number(amount),
    currency: 'IDR',
    ...(reference !== '' && { external_reference: reference }),
    ...(isWallet && { customer: { phone } }),
  }
  return (
    <Card title="New payment" note="What a merchant’s server sends when a customer checks out.">
      <ActionForm
        label="Create payment"
        kind="main"
        call={apiPost('payments', body, key)}
        after={({ status, body: answer }) => {
          if (status > 0 && status < 500) setKey(newKey())
          const created = v.safeParse(CreatedSchema, answer)
          if (created.success) goTo('payments', created.output.id)
        }}
      >
        <Field label="Paid by">
          <select value={channel} onChange={({ currentTarget }) => setChannel(currentTarget.value)}>
            {OFFERED.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Amount in IDR">
          <input
            type="number"
            min="1"
            step="1"
            value={amount}
            onInput={({ currentTarget }) => setAmount(currentTarget.value)}
          />
        </Field>
        {isWallet && (
          <Field label="Customer’s phone">
            <input type="tel" value={phone} onInput={({ currentTarget }) => setPhone(currentTarget.value)} />
          </Field>
        )}
        <Field label="Your reference (optional)">
          <input type="text" value={reference} onInput={({ currentTarget }) => setReference(currentTarget.value)} />
        </Field>
      </ActionForm>
    </Card>
  )
}
