import { useState } from 'preact/hooks'
import { rupiah, words } from '../../activity/activity-line.ts'
import { ActionButton } from '../action-button.tsx'
import { invoke, type Loaded, operate, useLoad } from '../gateway.ts'
import { Card, ReadResult, Rows, TextField, Time } from '../parts.tsx'
import { readAllPages } from '../read-pages.ts'
import { hasNext, PER_PAGE } from '../shapes.ts'
import { isReadable, type SuspenseItem, SuspenseSchema } from './operate-shapes.ts'

type Kind = SuspenseItem['kind']

type KindTexts = {
  readonly title: string
  readonly note: string
  readonly empty: string
  readonly resolutions: readonly (readonly [resolution: string, label: string])[]
}

const KINDS: Readonly<Record<Kind, KindTexts>> = {
  case: {
    title: 'Cases',
    note:
      'Disputes and transfers. Answer a dispute in the provider’s dashboard before it is due, ' +
      'then write down here what you did.',
    empty: 'No case is open.',
    resolutions: [
      ['answered', 'Answered'],
      ['accepted', 'Accepted'],
      ['explained', 'Explained'],
    ],
  },
  money: {
    title: 'Held money',
    note:
      'Money of customers that no merchant may get. A refund in the provider’s dashboard ' +
      'resolves it. Else wait until the provider has settled it. A refund by our bank needs an ' +
      'approval.',
    empty: 'No money is held.',
    resolutions: [
      ['refunded_by_bank', 'Refunded by our bank'],
      ['written_off', 'Written off'],
    ],
  },
  finding: {
    title: 'Findings',
    note: 'What the books cannot explain. Ask the provider, then write the explanation down.',
    empty: 'No finding is open.',
    resolutions: [['explained', 'Explained']],
  },
}

export function SuspenseCard({ kind }: { readonly kind: Kind }) {
  const { title, note, empty } = KINDS[kind]
  const read = useLoad(kind, () => loadSuspense(kind))
  return (
    <div id={`operate-${kind}`}>
      <Card title={title} note={note} call={callOf(kind, 1)}>
        <ReadResult read={read}>
          {({ items, isWhole }) => (
            <>
              <Rows items={items} empty={empty}>
                {(item) => <Item key={item.suspense_id} item={item} />}
              </Rows>
              {!isWhole && <p class="bad">More items are open than this list shows.</p>}
            </>
          )}
        </ReadResult>
      </Card>
    </div>
  )
}

const MOST_PAGES = 10

function callOf(kind: Kind, page: number) {
  return invoke('list-suspense', { status: 'open', kind, page, per_page: PER_PAGE })
}

async function loadSuspense(
  kind: Kind,
): Promise<Loaded<{ readonly items: readonly SuspenseItem[]; readonly isWhole: boolean }>> {
  const read = await readAllPages({
    schema: SuspenseSchema,
    most: MOST_PAGES,
    callOf: (page) => callOf(kind, page),
    hasNext,
  })
  if (!('value' in read)) return read
  const { pages, isWhole } = read.value
  return {
    value: {
      // The case that is due first is on top.
      items: pages
        .flatMap(({ data }) => data)
        .toSorted(({ due_at: a }, { due_at: b }) => dueRank(a) - dueRank(b)),
      isWhole: isWhole && pages.every((page) => page.complete && isReadable(page)),
    },
  }
}

function dueRank(dueAt: string | null | undefined) {
  return dueAt ? Date.parse(dueAt) : Number.MAX_SAFE_INTEGER
}

function Item({ item }: { readonly item: SuspenseItem }) {
  const [notes, setNotes] = useState('')
  const { suspense_id: id, kind } = item
  return (
    <li class="item">
      <SuspenseFacts item={item} />
      <TextField label="Notes" aria-label={`Notes on ${id}`} value={notes} onType={setNotes} />
      <p class="line">
        {KINDS[kind].resolutions.map(([resolution, label]) => (
          <ActionButton
            key={resolution}
            label={label}
            about={id}
            call={operate('resolve-suspense', {
              suspense_id: id,
              resolution,
              notes: notes || 'in the console',
            })}
          />
        ))}
      </p>
    </li>
  )
}

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
