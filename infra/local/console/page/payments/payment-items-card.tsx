import { words } from '../../activity/activity-line.ts'
import { invoke } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { SuspenseSchema } from '../operate/operate-shapes.ts'
import { SuspenseFacts } from '../operate/suspense-facts.tsx'
import { Card, Rows } from '../parts.tsx'

/**
 * The cases and the held money of a payment, and its open findings. Most payments have none, and
 * then no card.
 */
export function PaymentItemsCard({ paymentId }: { readonly paymentId: string }) {
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
