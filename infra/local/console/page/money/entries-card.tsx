import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { rupiah, words } from '../../activity/activity-line.ts'
import { api } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Card, Pager, ReadResult, Rows, Time } from '../parts.tsx'
import { EntriesSchema } from '../shapes.ts'

const PER_PAGE = 20

type Entry = v.InferOutput<typeof EntriesSchema>['data'][number]

type EntriesCardProps = { readonly title: string; readonly note: string; readonly path: string }

/** The entries of a sum, oldest first, in pages. */
export function EntriesCard({ title, note, path }: EntriesCardProps) {
  /** The start of each page after the first. */
  const [cursors, setCursors] = useState<readonly string[]>([])
  const query = new URLSearchParams({
    limit: String(PER_PAGE),
    ...(cursors.length > 0 && { after: cursors.at(-1) }),
  })
  const call = api(`${path}?${query.toString()}`)
  const read = useRead(EntriesSchema, call)
  const { next } = read.value ?? {}
  return (
    <Card title={title} note={note} call={call}>
      <ReadResult read={read}>
        {({ data }) => (
          <Rows
            items={data}
            empty="No entry yet. A payment gets one after the provider has settled it."
          >
            {(entry) => <Row key={entry.id} entry={entry} />}
          </Rows>
        )}
      </ReadResult>
      <Pager
        noun="entries"
        labels={['Earlier', 'Later']}
        onNewer={cursors.length > 0 ? () => setCursors(cursors.slice(0, -1)) : undefined}
        onOlder={next ? () => setCursors([...cursors, next]) : undefined}
      />
    </Card>
  )
}

function Row({ entry }: { readonly entry: Entry }) {
  const {
    type,
    payment_id: paymentId,
    settlement_id: settlementId,
    external_reference: reference,
  } = entry
  return (
    <li class="item">
      <p class="line">
        <strong>{rupiah(entry.client_net_minor)}</strong> <span>{words(type)}</span>
        <Time at={entry.posted_at} />
      </p>
      <p class="line muted">
        paid {rupiah(entry.notional_minor)} − fee {rupiah(entry.xendit_fee_minor)} − markup{' '}
        {rupiah(entry.hexolus_markup_minor)}
      </p>
      <p class="line">
        {reference && <span class="reference">{reference}</span>}
        {paymentId && <a href={`#payments/${paymentId}`}>its payment</a>}
        {settlementId ? (
          <a href={`#money/${settlementId}`}>its settlement</a>
        ) : (
          <span class="muted">not settled yet</span>
        )}
      </p>
    </li>
  )
}
