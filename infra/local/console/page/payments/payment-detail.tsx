import { useState } from 'preact/hooks'
import { rupiah, words } from '../../activity/activity-line.ts'
import { ActionButton, ActionForm, CopyButton } from '../action-button.tsx'
import { api, apiPost, invoke, providerAction } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Card, ReadResult, SelectField, Status, TextField, Time } from '../parts.tsx'
import { type Timeline, TimelineSchema } from '../shapes.ts'
import { HowToPay } from './how-to-pay.tsx'
import { PaymentItemsCard } from './payment-items-card.tsx'
import { timelineSteps } from './timeline-steps.ts'

/**
 * One payment: how to pay it, the actions of customer and merchant, its money, and its timeline.
 */
export function PaymentDetail({ id }: { readonly id: string }) {
  return (
    <ReadResult
      title="Payment"
      read={useRead(TimelineSchema, invoke('get-payment', { payment_id: id }))}
    >
      {(payment) => <PaymentCards payment={payment} />}
    </ReadResult>
  )
}

function PaymentCards({ payment }: { readonly payment: Timeline }) {
  const { id } = payment
  const isOpen = payment.status === 'pending'
  return (
    <>
      <Card title={`Payment of ${rupiah(payment.notional_minor)}`} call={api(`payments/${id}`)}>
        <About payment={payment} />
        {isOpen && <HowToPay payment={payment} />}
        <ProviderActions payment={payment} />
        {isOpen && (
          <div class="actions">
            <h3>Act as the merchant</h3>
            <ActionButton label="Cancel" call={apiPost(`payments/${id}/cancel`, {})} />
          </div>
        )}
        <Figures payment={payment} />
      </Card>
      <PaymentItemsCard paymentId={id} />
      <TimelineCard payment={payment} />
    </>
  )
}

function About({ payment }: { readonly payment: Timeline }) {
  const { id, status, external_reference: reference, failure_reason: reason, reversal } = payment
  return (
    <>
      <p class="line">
        <Status status={status} />{' '}
        <span class="muted">{payment.channel_code ?? payment.method}</span>
        <code>{id}</code> <CopyButton noun="payment id" text={id} />
      </p>
      {reference && (
        <p class="line">
          <span class="muted">Reference</span> <span class="reference">{reference}</span>
        </p>
      )}
      {reason && <p class="line bad">It failed: {words(reason)}.</p>}
      {reversal && (
        <p class="line bad">
          {rupiah(reversal.amount_minor)} was reversed ({reversal.kind}).
        </p>
      )}
    </>
  )
}

const KINDS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback_reversal'].map(
  (kind) => [kind, words(kind)] as const,
)

/** The customer's actions at the provider while the payment is open; after that, the reversals. */
function ProviderActions({ payment }: { readonly payment: Timeline }) {
  const [kind, setKind] = useState('refund')
  const [amount, setAmount] = useState('')
  const request = payment.payment_request_id
  if (payment.status === 'pending') {
    return (
      <div class="actions">
        <h3>Act as the customer</h3>
        <ActionButton label="Pay" kind="main" call={providerAction(request, 'simulate')} />
        <ActionButton label="Fail" call={providerAction(request, 'fail')} />
        <ActionButton label="Expire" call={providerAction(request, 'expire')} />
      </div>
    )
  }
  if (payment.status !== 'succeeded') return null
  const body = { kind, ...(amount !== '' && { amount: Number(amount) }) }
  return (
    <details class="actions">
      <summary>Reverse the payment</summary>
      <ActionForm label="Reverse" kind="danger" call={providerAction(request, 'reverse', body)}>
        <SelectField label="Kind" value={kind} options={KINDS} onChoose={setKind} />
        <TextField
          label="Amount (empty: all)"
          type="number"
          min="1"
          value={amount}
          onType={setAmount}
        />
      </ActionForm>
      <p class="note">The provider reports it by a callback, or in its transactions.</p>
    </details>
  )
}

function Figures({ payment }: { readonly payment: Timeline }) {
  const { status, fee_status: feeStatus } = payment
  const amount = rupiah(payment.notional_minor)
  // A payment that ended unpaid has no fee.
  if (status !== 'succeeded' && status !== 'pending')
    return <p class="line muted">The merchant asked for {amount}. It was not paid.</p>
  const isPaid = status === 'succeeded'
  const rows: readonly (readonly [string, string])[] = [
    [isPaid ? 'Paid by the customer' : 'Asked of the customer', amount],
    [`Provider’s fee (${feeStatus})`, `− ${rupiah(payment.xendit_fee_minor)}`],
    ['Our markup', `− ${rupiah(payment.hexolus_markup_minor)}`],
    [
      isPaid ? 'Net for the merchant' : 'Net for the merchant, once paid',
      rupiah(payment.client_net_minor),
    ],
  ]
  return (
    <dl class="figures">
      {rows.map(([name, figure], index) => (
        <div key={name} class={index === rows.length - 1 ? 'sum' : ''}>
          <dt>{name}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  )
}

function TimelineCard({ payment }: { readonly payment: Timeline }) {
  return (
    <Card title="Timeline" call={invoke('get-payment', { payment_id: payment.id })}>
      <ol class="timeline">
        {timelineSteps(payment).map(({ at, tone, text, detail }) => (
          <li key={`${at ?? ''} ${text}`} class={tone}>
            {at === undefined ? <span /> : <Time at={at} />}
            <p>
              {text}
              {detail !== undefined && <span class="muted"> {detail}</span>}
            </p>
          </li>
        ))}
      </ol>
    </Card>
  )
}
