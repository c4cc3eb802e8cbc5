import { rupiah, words } from '../../activity/activity-line.ts'
import { Time } from '../parts.tsx'
import type { SuspenseItem } from './operate-shapes.ts'

type SuspenseFactsProps = {
  readonly item: SuspenseItem
  /** False on the page of the payment. */
  readonly linksPayment?: boolean
}

export function SuspenseFacts({ item, linksPayment = true }: SuspenseFactsProps) {
  const { amount_minor: amount, payment_id: paymentId, refunded_minor: refunded = 0 } = item
  return (
    <>
      <p class="line">
        <strong>{words(item.cause)}</strong>
        {amount !== null && <span>{rupiah(amount)}</span>}
        {item.state && <span class="status">{words(item.state)}</span>}
        {linksPayment && paymentId !== null && <a href={`#payments/${paymentId}`}>its payment</a>}
      </p>
      {item.due_at && (
        <p>
          <strong>To be answered until</strong> <Time at={item.due_at} />
        </p>
      )}
      {refunded > 0 && <p>The provider has refunded {rupiah(refunded)} of it already.</p>}
      <p class="muted small">
        <code>{item.suspense_id}</code>, since <Time at={item.created_at} />
      </p>
    </>
  )
}
