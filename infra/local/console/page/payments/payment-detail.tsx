import { useState } from 'preact/hooks'
import qrcode from 'qrcode-generator'
import { rupiah, words } from '../../activity/activity-line.ts'
import { ActionButton, ActionForm, CopyButton } from '../action-button.tsx'
import { api, apiPost, invoke, providerAction, useRead } from '../gateway.ts'
import { jakartaMinute, utcTime } from '../jakarta.ts'
import { SuspenseSchema } from '../operate/operate-shapes.ts'
import { SuspenseFacts } from '../operate/suspense-card.tsx'
import { Card, ReadResult, Rows, SelectField, Status, TextField, Time } from '../parts.tsx'
import { type Timeline, TimelineSchema } from '../shapes.ts'
import { timelineSteps } from './timeline-steps.ts'

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

const REVERSALS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback_reversal'].map(
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
        <SelectField label="Kind" value={kind} options={REVERSALS} onChoose={setKind} />
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

/** Pixels. Cameras need the light margin to find the code. */
const [MODULE, MARGIN] = [4, 16]

/**
 * What a shop shows its customer: a number, a QR code or a link. Empty if the wallet asks on the
 * phone.
 */
function HowToPay({ payment }: { readonly payment: Timeline }) {
  const { method, payment_destination: destination, expires_at: deadline } = payment
  return (
    <div class="pay">
      {method === 'qris' && <QrCode text={destination} label="QR code of this payment" />}
      <div>
        <PaymentInstructions payment={payment} />
        {deadline && (
          <p class="note">
            The customer can pay until{' '}
            <time dateTime={deadline} title={utcTime(deadline)}>
              {jakartaMinute(deadline)}
            </time>
            .
          </p>
        )}
      </div>
    </div>
  )
}

/** Dark on light in both themes, because scanners need that. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  return <img class="qr" alt={label} src={code.createDataURL(MODULE, MARGIN)} />
}

function PaymentInstructions({ payment }: { readonly payment: Timeline }) {
  const { method, channel_code: code, payment_destination: destination } = payment
  if (destination === '')
    return <p>The shop shows nothing: {code} asks the customer on the phone.</p>
  if (method === 'qris') return <QrInstructions text={destination} />
  // No other text may become a link.
  if (/^https?:\/\//.test(destination)) return <LinkInstructions link={destination} />
  return <TransferInstructions account={destination} bank={code ?? method} />
}

function QrInstructions({ text }: { readonly text: string }) {
  return (
    <>
      <p>The customer scans the code with the app of a bank or a wallet.</p>
      <p>
        <code class="long">{text}</code> <CopyButton noun="QR text" text={text} />
      </p>
    </>
  )
}

function LinkInstructions({ link }: { readonly link: string }) {
  return (
    <>
      <p>The shop sends the customer to the wallet’s page:</p>
      <p>
        <a href={link} target="_blank" rel="noreferrer">
          Open the checkout
        </a>{' '}
        <CopyButton noun="checkout link" text={link} />
      </p>
    </>
  )
}

function TransferInstructions({
  account,
  bank,
}: {
  readonly account: string
  readonly bank: string
}) {
  return (
    <>
      <p>The customer transfers to this account at {bank}:</p>
      <p class="account">
        <output aria-label="Account number">{groupedByFour(account)}</output>{' '}
        <CopyButton noun="account number" text={account} />
      </p>
    </>
  )
}

function groupedByFour(digits: string) {
  return digits.replaceAll(/(.{4})(?=.)/g, '$1 ')
}

/** Most payments have no case, held money or open finding, and then no card. */
function PaymentItemsCard({ paymentId }: { readonly paymentId: string }) {
  const call = invoke('list-suspense', { payment_id: paymentId, per_page: 100 })
  const { value } = useRead(SuspenseSchema, call)
  // The timeline has what an operator or a row of the provider has explained.
  const items = value?.data.filter(({ kind, status }) => kind !== 'finding' || status === 'open')
  if (!items || items.length === 0) return null
  return (
    <Card title="Cases and held money" call={call}>
      <Rows items={items} empty="">
        {(item) => (
          <li key={item.suspense_id} class="item">
            <SuspenseFacts item={item} linksPayment={false} />
            <p class="line">
              <span class={item.status === 'open' ? 'status bad' : 'status'}>
                {KINDS[item.kind]},{' '}
                {item.resolution === null ? item.status : words(item.resolution)}
              </span>
              {item.status === 'open' && <a href={`#operate/${item.kind}`}>resolve it</a>}
            </p>
          </li>
        )}
      </Rows>
    </Card>
  )
}

const KINDS = { case: 'case', money: 'held money', finding: 'finding' } as const
