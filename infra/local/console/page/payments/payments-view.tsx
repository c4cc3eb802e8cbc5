import { rupiah } from '../../story/story-line.ts'
import { api } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Card, Empty, Status, Time } from '../parts.tsx'
import { PaymentsSchema } from '../shapes.ts'
import { CreateForm } from './create-form.tsx'
import { PaymentDetail } from './payment-detail.tsx'

const LIST = api('payments?per_page=12')

const PaymentList = ({ selected }: { readonly selected: string | undefined }) => {
  const payments = useRead(PaymentsSchema, LIST)
  return (
    <Card title="Payments" call={LIST}>
      {payments?.data.length === 0 && <Empty>None yet.</Empty>}
      <ul class="rows">
        {payments?.data.map(({ id, status, notional_minor: amount, channel_code: code, method, created_at: at }) => (
          <li key={id}>
            <a href={`#payments/${id}`} aria-current={id === selected ? 'true' : undefined}>
              <strong>{rupiah(amount)}</strong>
              <Status is={status} />
              <span class="muted">{code ?? method}</span>
              <span class="muted">
                <Time at={at} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {payments && payments.pagination.total > payments.data.length && (
        <p class="note">
          The newest {payments.data.length} of {payments.pagination.total}.
        </p>
      )}
    </Card>
  )
}

/** A payment is created on the left, and looked at on the right. */
export const PaymentsView = ({ selected }: { readonly selected: string | undefined }) => (
  <div class="split">
    <div>
      <CreateForm />
      <PaymentList selected={selected} />
    </div>
    <div>
      {selected === undefined ? (
        <Card title="Payment">
          <Empty>
            Create a payment, or choose one: how to pay it, what becomes of it and every webhook are shown here.
          </Empty>
        </Card>
      ) : (
        <PaymentDetail key={selected} id={selected} />
      )}
    </div>
  </div>
)
