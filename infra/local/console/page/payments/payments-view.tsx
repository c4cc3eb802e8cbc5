import { Card, Empty } from '../parts.tsx'
import { CreateForm } from './create-form.tsx'
import { PaymentDetail } from './payment-detail.tsx'
import { PaymentList } from './payment-list.tsx'

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
