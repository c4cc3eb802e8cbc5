import { useEffect, useRef, useState } from 'preact/hooks'
import * as v from 'valibot'
import { CHANNELS, type Channel } from '../../../../../shared/channel/channels.ts'
import { ActionForm } from '../action-button.tsx'
import { api, apiPost, useRead } from '../gateway.ts'
import { Card, Empty, Pager, ReadResult, SelectField, TextField } from '../parts.tsx'
import { readPages } from '../read-pages.ts'
import { goTo } from '../session.ts'
import { CreatedSchema, hasNext, PaymentsSchema, PER_PAGE as READ_PER_PAGE } from '../shapes.ts'
import { PaymentDetail } from './payment-detail.tsx'
import { type Payment, PaymentRows } from './payment-rows.tsx'
import { EVERYTHING, PER_PAGE, type Search, SearchForm, searchCall } from './search-form.tsx'

/** The same width as in page.css: with one column, the payment is below the list. */
const ONE_COLUMN = '(max-width: 860px)'

/** A phone scrolls to the selected payment. */
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
  /** A cursor is empty for numbered pages. */
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

const KINDS = { virtual_account: 'Bank transfer', ewallet: 'Wallet', qris: 'QR code' } as const

/** Every channel that has terms of its own. */
const CHANNEL_OPTIONS = CHANNELS.map(
  (channel) =>
    [
      nameOf(channel),
      `${KINDS[channel.method]} · ${channel.code || 'QRIS'}${flowOf(channel)}`,
    ] as const,
)

/** After a lost answer, the next press sends the same key. */
function CreateForm() {
  const [channel, setChannel] = useState<string>('qris')
  const [amount, setAmount] = useState('150000')
  const [reference, setReference] = useState('')
  const [phone, setPhone] = useState('+6281234567890')
  const [key, setKey] = useState(newKey)
  const [method = '', code] = channel.split(' ')
  const facts = CHANNELS.find((one) => nameOf(one) === channel)?.facts
  const isWallet = method === 'ewallet'
  const body = {
    method,
    ...(code !== undefined && { channel_code: code }),
    amount: Number(amount),
    currency: 'IDR',
    ...(reference !== '' && { external_reference: reference }),
    ...(isWallet && { customer: { phone } }),
  }
  return (
    <Card
      title="New payment"
      note={`A merchant’s server sends this when a customer checks out. ${limitsOf(facts)}`}
    >
      <ActionForm
        label="Create payment"
        kind="main"
        call={apiPost('payments', body, key)}
        onAnswer={({ status, body: answer }) => {
          if (status > 0 && status < 500) setKey(newKey())
          const created = v.safeParse(CreatedSchema, answer)
          if (created.success) goTo('payments', created.output.id)
        }}
      >
        <SelectField
          label="Paid by"
          value={channel}
          options={CHANNEL_OPTIONS}
          onChoose={setChannel}
        />
        <TextField
          label="Amount in IDR"
          type="number"
          min="1"
          step="1"
          value={amount}
          onType={setAmount}
        />
        {isWallet && (
          <TextField label="Customer’s phone" type="tel" value={phone} onType={setPhone} />
        )}
        <TextField label="Your reference (optional)" value={reference} onType={setReference} />
      </ActionForm>
    </Card>
  )
}

function nameOf({ method, code }: Channel) {
  return code === '' ? method : `${method} ${code}`
}

function flowOf({ facts }: Channel) {
  return facts?.flow === 'push' ? ' (asks on the phone)' : ''
}

function limitsOf(facts: Channel['facts']) {
  if (facts === undefined) return ''
  const [least, most] = [facts.amounts.least, facts.amounts.most].map((amount) =>
    amount.toLocaleString('en-US'),
  )
  const refund =
    facts.refund.by === 'dashboard'
      ? `in the provider’s dashboard within ${facts.refund.within}`
      : 'by a transfer of your bank'
  return `The provider takes IDR ${least} to ${most}. Money is given back ${refund}.`
}

function newKey() {
  return `console-${crypto.randomUUID()}`
}

const MOST_PAGES = 20

type ReferencePartsProps = {
  readonly search: Search
  /** False if the gateway has found the whole reference: a press of the button then starts. */
  readonly startsNow: boolean
  readonly selectedId: string | undefined
}

/**
 * The gateway finds whole references only, so the page looks through a bounded number of the newest
 * payments, and says how many.
 */
function ReferenceParts({ search, startsNow, selectedId }: ReferencePartsProps) {
  const [look, setLook] = useState(startsNow ? 1 : 0)
  const { found, text, isLooking } = useLook(search, look)
  return (
    <>
      {look > 0 && (
        <PaymentRows
          payments={found}
          selectedId={selectedId}
          empty={isLooking ? 'Looking for parts of references…' : 'No reference contains it.'}
        />
      )}
      <p class="line">
        <span class="action">
          <button
            type="button"
            aria-disabled={isLooking}
            onClick={() => {
              if (!isLooking) setLook(look + 1)
            }}
          >
            {look === 0 ? 'Look for it as a part' : 'Look again'}
          </button>
        </span>
        <span class="muted" role="status">
          {text}
        </span>
      </p>
    </>
  )
}

const NOTHING = { found: [] as readonly Payment[], text: '', isLooking: false }

function useLook({ reference, status }: Search, look: number) {
  const [shown, setShown] = useState(NOTHING)
  useEffect(() => {
    if (look === 0) return undefined
    const state = { hasEnded: false }
    void (async () => {
      const found = new Map<string, Payment>()
      let looked = 0
      setShown({ ...NOTHING, isLooking: true })
      for await (const loaded of pagesOf(status)) {
        if (state.hasEnded) return
        if (!('value' in loaded))
          return setShown({ found: [...found.values()], text: loaded.error, isLooking: false })
        const { data, pagination: { total } = {} } = loaded.value
        looked += data.length
        for (const payment of data)
          if (contains(payment.external_reference, reference)) found.set(payment.id, payment)
        setShown({ found: [...found.values()], text: extentOf(looked, total), isLooking: true })
      }
      return setShown((last) => ({ ...last, isLooking: false }))
    })()
    return () => {
      state.hasEnded = true
    }
  }, [look])
  return shown
}

function pagesOf(status: string) {
  return readPages({
    schema: PaymentsSchema,
    most: MOST_PAGES,
    callOf: (page) => {
      const query = new URLSearchParams({ page: String(page), per_page: String(READ_PER_PAGE) })
      if (status !== '') query.set('status', status)
      return api(`payments?${query.toString()}`)
    },
    hasNext,
  })
}

function contains(reference: string | null | undefined, part: string) {
  return reference?.toLowerCase().includes(part.trim().toLowerCase()) ?? false
}

function extentOf(looked: number, total: number | undefined) {
  const ofTotal =
    total === undefined || total < looked ? '' : ` of ${total.toLocaleString('en-US')}`
  return `Looked at the newest ${looked.toLocaleString('en-US')}${ofTotal} payments.`
}
