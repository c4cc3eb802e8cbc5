import { useEffect, useRef, useState } from 'preact/hooks'
import type * as v from 'valibot'
import { rupiah } from '../../activity/activity-line.ts'
import { useRead } from '../gateway.ts'
import { Card, Empty, Pager, ReadResult, Rows, Status, Time } from '../parts.tsx'
import { PaymentsSchema } from '../shapes.ts'
import { CreateForm } from './create-form.tsx'
import { PaymentDetail } from './payment-detail.tsx'
import { EVERYTHING, PER_PAGE, type Search, SearchForm, searchCall } from './search-form.tsx'

type Payment = v.InferOutput<typeof PaymentsSchema>['data'][number]

/** The same width as in page.css: with one column, the payment is below the list. */
const ONE_COLUMN = '(max-width: 860px)'

/** Create form and list on the left, the selected payment on the right. A phone scrolls to the selected payment. */
export function PaymentsView({ selected }: { readonly selected: string | undefined }) {
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
              Create or select a payment. Its instructions, timeline and webhooks are shown here.
            </Empty>
          </Card>
        ) : (
          <PaymentDetail key={selected} id={selected} />
        )}
      </div>
    </div>
  )
}

/** The merchant's payments, newest first, in pages: all, or the result of a search. */
function PaymentList({ selected }: { readonly selected: string | undefined }) {
  const [search, setSearch] = useState<Search>(EVERYTHING)
  /** The cursor of each page after the first. It is empty for numbered pages. */
  const [cursors, setCursors] = useState<readonly string[]>([])
  const page = cursors.length + 1
  const call = searchCall(search, page, cursors.at(-1) ?? '')
  const read = useRead(PaymentsSchema, call)
  const { cursor = '', pagination: { total = 0 } = {} } = read.value ?? {}
  const hasOlder = cursor !== '' || total > page * PER_PAGE
  return (
    <Card title="Payments" call={call}>
      <SearchForm
        onSearch={(wanted) => {
          setSearch(wanted)
          setCursors([])
        }}
      />
      <ReadResult read={read}>
        {({ data }) => (
          <Rows
            of={data}
            empty={
              search === EVERYTHING ? 'None yet. Create one above.' : 'The search found nothing.'
            }
          >
            {(payment) => (
              <Row key={payment.id} payment={payment} isSelected={payment.id === selected} />
            )}
          </Rows>
        )}
      </ReadResult>
      <Pager
        of="payments"
        text={
          total > PER_PAGE
            ? `page ${page} of ${Math.ceil(total / PER_PAGE)}, ${total} payments`
            : ''
        }
        onNewer={page > 1 ? () => setCursors(cursors.slice(0, -1)) : undefined}
        onOlder={hasOlder ? () => setCursors([...cursors, cursor]) : undefined}
      />
    </Card>
  )
}

function Row({ payment, isSelected }: { readonly payment: Payment; readonly isSelected: boolean }) {
  const { id, status, notional_minor: amount, channel_code: code, method, created_at: at } = payment
  return (
    <li>
      <a href={`#payments/${id}`} aria-current={isSelected ? 'true' : undefined}>
        <strong>{rupiah(amount)}</strong>
        <Status is={status} />
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
