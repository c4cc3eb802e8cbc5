import { useEffect, useState } from 'preact/hooks'
import { api } from '../gateway.ts'
import { readPages } from '../read-pages.ts'
import { PaymentsSchema } from '../shapes.ts'
import { type Payment, PaymentRows } from './payment-rows.tsx'
import type { Search } from './search-form.tsx'

const PER_PAGE = 100
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
export function ReferenceParts({ search, startsNow, selectedId }: ReferencePartsProps) {
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
      const query = new URLSearchParams({ page: String(page), per_page: String(PER_PAGE) })
      if (status !== '') query.set('status', status)
      return api(`payments?${query.toString()}`)
    },
    hasNext: ({ data }) => data.length === PER_PAGE,
  })
}

function contains(reference: string | null | undefined, part: string) {
  return reference?.toLowerCase().includes(part.trim().toLowerCase()) ?? false
}

function extentOf(looked: number, total: number | undefined) {
  const of = total === undefined || total < looked ? '' : ` of ${total.toLocaleString('en-US')}`
  return `Looked at the newest ${looked.toLocaleString('en-US')}${of} payments.`
}
