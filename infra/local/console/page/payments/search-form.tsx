import { useState } from 'preact/hooks'
import { PAYMENT_STATUSES } from '../../../../../shared/payment-status.ts'
import type { ConsoleCall } from '../../console-call.ts'
import { Form } from '../action-button.tsx'
import { api, invoke, withClientId } from '../gateway.ts'
import { SelectField, TextField } from '../parts.tsx'

export type Search = {
  readonly reference: string
  readonly amount: string
  readonly day: string
  readonly status: string
}

export const EVERYTHING: Search = { reference: '', amount: '', day: '', status: '' }

export const PER_PAGE = 12

const STATES = [
  ['', 'any'] as const,
  ...PAYMENT_STATUSES.map((status) => [status, status] as const),
]

export function SearchForm({ onSearch }: { readonly onSearch: (search: Search) => void }) {
  const [typedSearch, setTyped] = useState(EVERYTHING)
  const [problem, setProblem] = useState<string>()
  const fieldProps = (name: 'reference' | 'amount' | 'day') => ({
    value: typedSearch[name],
    onType: (text: string) => setTyped({ ...typedSearch, [name]: text }),
  })
  const searchFor = (search: Search) => {
    setTyped(search)
    setProblem(problemOf(search))
    if (problemOf(search) === undefined) onSearch(search)
  }
  return (
    <details>
      <summary>Search</summary>
      <Form kind="form" onSubmit={() => searchFor(typedSearch)}>
        <TextField label="Reference, or a part of it" {...fieldProps('reference')} />
        <div class="line">
          <TextField label="Amount paid in IDR" type="number" {...fieldProps('amount')} />
          <TextField label="Its day in Jakarta" type="date" {...fieldProps('day')} />
        </div>
        <SelectField
          label="State"
          value={typedSearch.status}
          options={STATES}
          onChoose={(status) => setTyped({ ...typedSearch, status })}
        />
        <p class="line">
          <span class="action">
            <button type="submit">Search</button>
          </span>
          <span class="action">
            <button type="button" onClick={() => searchFor(EVERYTHING)}>
              Show all
            </button>
          </span>
        </p>
        <p role="alert" class="bad">
          {problem}
        </p>
      </Form>
    </details>
  )
}

/** The gateway searches by a reference or by an amount, not by both. */
function problemOf({ reference, amount, day }: Search): string | undefined {
  if ((amount === '') !== (day === '')) return 'Enter both the amount and its day.'
  if (amount !== '' && reference !== '')
    return 'Enter either a reference, or an amount and its day.'
  return undefined
}

/** Some pages have numbers, others a `cursor`. The gateway finds a whole reference only. */
export function searchCall(
  { reference, amount, day, status }: Search,
  page: number,
  cursor: string,
): ConsoleCall {
  if (amount !== '') {
    const filter = Object.fromEntries(filledFields({ status, cursor }))
    return invoke('find-payments', withClientId({ amount_minor: Number(amount), day, ...filter }))
  }
  const query = new URLSearchParams(filledFields({ external_reference: reference, status }))
  query.set('page', String(page))
  query.set('per_page', String(PER_PAGE))
  return api(`payments?${query.toString()}`)
}

function filledFields(fields: Readonly<Record<string, string>>) {
  return Object.entries(fields).filter(([, text]) => text !== '')
}
