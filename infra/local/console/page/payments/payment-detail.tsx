import { rupiah } from '../../story/story-line.ts'
import { ActionButton, CopyButton } from '../action-button.tsx'
import { apiPost, look } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Card, Empty, Status, Time } from '../parts.tsx'
import { type Timeline, TimelineSchema } from '../shapes.ts'
import { HowToPay } from './how-to-pay.tsx'
import { lifeOf } from './life.ts'
import { ProviderActions } from './provider-actions.tsx'

const Figures = ({ payment }: { readonly payment: Timeline }) => (
  <dl class="figures">
    <div>
      <dt>Paid by the customer</dt>
      <dd>{rupiah(payment.notional_minor)}</dd>
    </div>
    <div>
      <dt>
        Provider’s fee <span class="muted">({payment.fee_status})</span>
      </dt>
      <dd>− {rupiah(payment.xendit_fee_minor)}</dd>
    </div>
    <div>
      <dt>Our markup</dt>
      <dd>− {rupiah(payment.hexolus_markup_minor)}</dd>
    </div>
    <div class="sum">
      <dt>Net for the merchant</dt>
      <dd>{rupiah(payment.client_net_minor)}</dd>
    </div>
  </dl>
)

const Life = ({ payment }: { readonly payment: Timeline }) => (
  <Card title="Its life" call={look('get-payment', { payment_id: payment.id })}>
    <ol class="life">
      {lifeOf(payment).map(({ at, tone, text, detail }) => (
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

/** One payment: how it is paid, what its customer and its merchant can do, its money, and its life so far. */
export const PaymentDetail = ({ id }: { readonly id: string }) => {
  const payment = useRead(TimelineSchema, look('get-payment', { payment_id: id }))
  if (!payment) {
    return (
      <Card title="Payment">
        <Empty>Nothing to show of {id}.</Empty>
      </Card>
    )
  }
  const isOpen = payment.status === 'pending'
  return (
    <>
      <Card
        title={`Payment of ${rupiah(payment.notional_minor)}`}
        call={{ door: 'api', method: 'GET', path: `/v1/payments/${id}` }}
      >
        <p class="line">
          <Status is={payment.status} /> <span class="muted">{payment.channel_code ?? payment.method}</span>
          <code>{id}</code> <CopyButton what="payment id" text={id} />
        </p>
        {payment.external_reference && (
          <p class="line">
            <span class="muted">Reference</span> {payment.external_reference}
          </p>
        )}
        {payment.failure_reason && <p class="line bad">It failed: {payment.failure_reason.replaceAll('_', ' ')}.</p>}
        {payment.reversal && (
          <p class="line bad">
            {rupiah(payment.reversal.amount_minor)} went back ({payment.reversal.kind}).
          </p>
        )}
        {isOpen && <HowToPay payment={payment} />}
        <ProviderActions payment={payment} />
        {isOpen && (
          <div class="actions">
            <h3>As its merchant</h3>
            <ActionButton label="Cancel" call={apiPost(`payments/${id}/cancel`, {})} />
          </div>
        )}
        <Figures payment={payment} />
      </Card>
      <Life payment={payment} />
    </>
  )
}
