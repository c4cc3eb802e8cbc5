import { useEffect, useRef } from 'preact/hooks'
import { Card, Empty } from '../parts.tsx'
import { CreateForm } from './create-form.tsx'
import { PaymentDetail } from './payment-detail.tsx'
import { PaymentList } from './payment-list.tsx'

/** The same width as in page.css: with one column, the payment is below the list. */
const ONE_COLUMN = '(max-width: 860px)'

/** Create form and list on the left, the selected payment on the right. On a phone, it scrolls to the selected one. */
export const PaymentsView = ({ selected }: { readonly selected: string | undefined }) => {
  const detail = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (selected !== undefined && matchMedia(ONE_COLUMN).matches) detail.current?.scrollIntoView()
  }, [selected])
  return (
    <div class="split">
      <div>
        <CreateForm />
        <PaymentList selected={selected} />
      </div>
      <div ref={detail}>
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
}
