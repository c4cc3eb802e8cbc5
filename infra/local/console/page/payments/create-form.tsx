import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { CHANNELS, type Channel } from '../../../../../shared/payment/channel/channels.ts'
import { ActionForm } from '../action-button.tsx'
import { apiPost } from '../calls.ts'
import { Card, SelectField, TextField } from '../parts.tsx'
import { goTo } from '../session.ts'
import { CreatedSchema } from '../shapes.ts'

const KINDS = { virtual_account: 'Bank transfer', ewallet: 'Wallet', qris: 'QR code' } as const

/** Every channel that has terms of its own. */
const CHANNEL_OPTIONS = CHANNELS.map(
  (channel) =>
    [
      nameOf(channel),
      `${KINDS[channel.method]} · ${channel.code || 'QRIS'}${flowOf(channel)}`,
    ] as const,
)

/**
 * Creates a payment as a merchant's server does. After a lost answer, the next press sends the same
 * key.
 */
export function CreateForm() {
  const [channel, setChannel] = useState<string>('qris')
  const [amount, setAmount] = useState('150000')
  const [reference, setReference] = useState('')
  const [phone, setPhone] = useState('+6281234567890')
  const [key, setKey] = useState(newKey)
  const [method = '', code] = channel.split(' ')
  const facts = CHANNELS.find((one) => nameOf(one) === channel)?.facts
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
    <Card
      title="New payment"
      note={`A merchant’s server sends this when a customer checks out. ${limitsOf(facts)}`}
    >
      <ActionForm
        label="Create payment"
        kind="main"
        call={apiPost('payments', body, key)}
        onAnswer={({ status, body: answer }) => {
          if (status > 0 && status < 500) setKey(newKey())
          const created = v.safeParse(CreatedSchema, answer)
          if (created.success) goTo('payments', created.output.id)
        }}
      >
        <SelectField
          label="Paid by"
          value={channel}
          options={CHANNEL_OPTIONS}
          onChoose={setChannel}
        />
        <TextField
          label="Amount in IDR"
          type="number"
          min="1"
          step="1"
          value={amount}
          onType={setAmount}
        />
        {isWallet && (
          <TextField label="Customer’s phone" type="tel" value={phone} onType={setPhone} />
        )}
        <TextField label="Your reference (optional)" value={reference} onType={setReference} />
      </ActionForm>
    </Card>
  )
}

function nameOf({ method, code }: Channel): string {
  return code === '' ? method : `${method} ${code}`
}

function flowOf({ facts }: Channel): string {
  return facts?.flow === 'push' ? ' (asks on the phone)' : ''
}

/** The provider decides; the table of channels says what it takes, and who gives money back. */
function limitsOf(facts: Channel['facts']): string {
  if (facts === undefined) return ''
  const [least, most] = [facts.amounts.least, facts.amounts.most].map((amount) =>
    amount.toLocaleString('en-US'),
  )
  const refund =
    facts.refund.by === 'dashboard'
      ? `in the provider’s dashboard within ${facts.refund.within}`
      : 'by a transfer of your bank'
  return `The provider takes IDR ${least} to ${most}. Money is given back ${refund}.`
}

function newKey() {
  return `console-${crypto.randomUUID()}`
}
