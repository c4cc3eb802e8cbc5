import type * as v from 'valibot'
import { rupiah } from '../../activity/activity-line.ts'
import { Rows, Status, Time } from '../parts.tsx'
import type { PaymentsSchema } from '../shapes.ts'

export type Payment = v.InferOutput<typeof PaymentsSchema>['data'][number]

type PaymentRowsProps = {
  readonly payments: readonly Payment[]
  readonly selectedId: string | undefined
  readonly empty: string
}

export function PaymentRows({ payments, selectedId, empty }: PaymentRowsProps) {
  return (
    <Rows items={payments} empty={empty}>
      {(payment) => (
        <Row key={payment.id} payment={payment} isSelected={payment.id === selectedId} />
      )}
    </Rows>
  )
}

function Row({ payment, isSelected }: { readonly payment: Payment; readonly isSelected: boolean }) {
  const { id, status, notional_minor: amount, channel_code: code, method, created_at: at } = payment
  return (
    <li>
      <a href={`#payments/${id}`} aria-current={isSelected ? 'true' : undefined}>
        <strong>{rupiah(amount)}</strong>
        <Status status={status} />
        <span class="muted">{code ?? method}</span>
        <span class="muted">
          <Time at={at} />
        </span>
        {payment.external_reference && (
          <span class="muted reference">{payment.external_reference}</span>
        )}
      </a>
    </li>
  )
}
