import { useEffect, useRef, useState } from 'preact/hooks'
import { useRead } from '../gateway.ts'
import { Card, Empty, Pager, ReadResult } from '../parts.tsx'
import { PaymentsSchema } from '../shapes.ts'
import { CreateForm } from './create-form.tsx'
import { PaymentDetail } from './payment-detail.tsx'
import { PaymentRows } from './payment-rows.tsx'
import { ReferenceParts } from './reference-parts.tsx'
import { EVERYTHING, PER_PAGE, type Search, SearchForm, searchCall } from './search-form.tsx'

/** The same width as in page.css: with one column, the payment is below the list. */
const ONE_COLUMN = '(max-width: 860px)'

/**
 * Create form and list on the left, the selected payment on the right. A phone scrolls to the
 * selected payment.
 */
export function PaymentsView({ selectedId }: { readonly selectedId: string | undefined }) {
  const detail = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (selectedId !== undefined && matchMedia(ONE_COLUMN).matches) detail.current?.scrollIntoView()
  }, [selectedId])
  return (
    <div class="split">
      <div>
        <CreateForm />
        <PaymentList selectedId={selectedId} />
      </div>
      <div ref={detail}>
        {selectedId === undefined ? (
          <Card title="Payment">
            <Empty>
              Create or select a payment. Its instructions, timeline and webhooks are shown here.
            </Empty>
          </Card>
        ) : (
          <PaymentDetail key={selectedId} id={selectedId} />
        )}
      </div>
    </div>
  )
}

function PaymentList({ selectedId }: { readonly selectedId: string | undefined }) {
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
        onSearch={(newSearch) => {
          setSearch(newSearch)
          setCursors([])
        }}
      />
      <ReadResult read={read}>
        {({ data }) => (
          <>
            <PaymentRows
              payments={data}
              selectedId={selectedId}
              empty={
                search === EVERYTHING ? 'None yet. Create one above.' : 'The search found nothing.'
              }
            />
            {search.reference !== '' && (
              <ReferenceParts
                key={JSON.stringify(search)}
                search={search}
                startsNow={data.length === 0}
                selectedId={selectedId}
              />
            )}
          </>
        )}
      </ReadResult>
      <Pager
        noun="payments"
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
