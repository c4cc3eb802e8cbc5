/** What the API answers, held against the table's raw items: reads and lists agree with what is stored. */
import { booksOf, type RawItem, sum, text } from '../support/books.ts'
import type { HttpReply } from './lambda.ts'
import type { Tenant } from './tenants.ts'

/** Small, so that even short lists have several pages. */
const PER_PAGE = 7

type Ask = (functionName: string, route: string, rest?: object) => Promise<HttpReply | undefined>

type Shown = Readonly<Record<string, unknown>>

const PAYMENT_FIELDS = {
  id: 'payment_id',
  client_id: 'client_id',
  notional_minor: 'notional_minor',
  xendit_fee_minor: 'provider_fee_minor',
  hexolus_markup_minor: 'markup_minor',
  client_net_minor: 'net_minor',
  status: 'status',
  payment_destination: 'payment_destination',
  created_at: 'created_at',
  paid_at: 'paid_at',
  expires_at: 'expires_at',
} as const

const SETTLEMENT_FIELDS = {
  id: 'settlement_id',
  client_id: 'client_id',
  period_start: 'period_start',
  period_end: 'period_end',
  gross_minor: 'gross_minor',
  xendit_fees_minor: 'provider_fees_minor',
  hexolus_markup_minor: 'markup_minor',
  net_minor: 'net_minor',
  payment_count: 'payment_count',
  status: 'status',
} as const

const differences = (what: string, fields: Readonly<Record<string, string>>, shown: Shown, stored: RawItem): string[] =>
  Object.entries(fields).flatMap(([field, attribute]) =>
    shown[field] === stored[attribute]
      ? []
      : [`${what}: ${field} is shown as ${String(shown[field])}, stored is ${String(stored[attribute])}`],
  )

/** A payment as it was shown, against its item. */
export const paymentDifferences = (shown: Shown, stored: RawItem): readonly string[] =>
  differences(`payment ${text(stored, 'payment_id')}`, PAYMENT_FIELDS, shown, stored)

const newestFirst = (items: readonly RawItem[], by: string, id: string): readonly RawItem[] =>
  items.toSorted((a, b) => text(b, by).localeCompare(text(a, by)) || text(b, id).localeCompare(text(a, id)))

const ids = (items: readonly RawItem[], attribute: string): string =>
  items.map((item) => text(item, attribute)).join(' ')

const pagesOf = async (ask: Ask, functionName: string, route: string, expected: number): Promise<Shown[]> => {
  const shown: Shown[] = []
  for (let page = 1; page <= Math.ceil(expected / PER_PAGE) + 1; page++) {
    const reply = await ask(functionName, route, { query: { page: String(page), per_page: String(PER_PAGE) } })
    shown.push(...((reply?.body['data'] ?? []) as Shown[]))
  }
  return shown
}

const listed = (
  what: string,
  fields: Readonly<Record<string, string>>,
  shown: readonly Shown[],
  stored: readonly RawItem[],
  id: string,
): string[] =>
  shown.map((entry) => String(entry['id'])).join(' ') === ids(stored, id)
    ? stored.flatMap((item, at) => differences(`listed ${what} ${text(item, id)}`, fields, shown[at] ?? {}, item))
    : [`the list of ${what}s has ${shown.length} in its order, stored are ${stored.length}`]

const balanceProblems = (shown: Shown, own: ReturnType<typeof ownBooks>): string[] => {
  const { payments, settlements, waiting } = own
  const succeeded = payments.filter(({ status }) => status === 'succeeded')
  const swept = settlements.filter((item) => item['replaces'] === undefined)
  const pending = sum(succeeded, 'net_minor') - sum(swept, 'net_minor')
  const expected = {
    pending_minor: pending,
    available_minor: sum(waiting, 'net_minor'),
    in_settlement_minor: sum(
      settlements.filter(({ status, recredited_at: at }) => status !== 'manual_paid' && at === undefined),
      'net_minor',
    ),
    paid_out_minor: sum(
      settlements.filter(({ status }) => status === 'manual_paid'),
      'net_minor',
    ),
  }
  return Object.entries(expected).every(([figure, value]) => shown[figure] === value)
    ? []
    : [`the balance shows ${JSON.stringify(shown)}; payments and settlements say ${JSON.stringify(expected)}`]
}

const ownBooks = (items: readonly RawItem[], clientId: string) => {
  const books = booksOf(items)
  const own = ({ client_id: owner }: RawItem) => owner === clientId
  const window = books.windows.find(({ pk }) => pk === `LEDGER#${clientId}`)
  const recredited = (window?.['recredited_ids'] as ReadonlySet<unknown> | undefined) ?? new Set()
  const settlements = books.settlements.filter(own)
  return {
    payments: books.payments.filter(own),
    settlements,
    waiting: settlements.filter((item) => recredited.has(item['settlement_id'])),
  }
}

/** At rest: every payment and settlement by itself and in its list, page by page, and the balance. */
export const readBackProblems = async (
  items: readonly RawItem[],
  { clientId }: Tenant,
  ask: Ask,
): Promise<readonly string[]> => {
  const own = ownBooks(items, clientId)
  const payments = newestFirst(own.payments, 'created_at', 'payment_id')
  const settlements = newestFirst(own.settlements, 'period_end', 'settlement_id')
  const problems: string[] = []

  const shownPayments = await pagesOf(ask, 'api-list-payments', 'GET /v1/payments', payments.length)
  problems.push(...listed('payment', PAYMENT_FIELDS, shownPayments, payments, 'payment_id'))
  const first = await ask('api-list-payments', 'GET /v1/payments')
  const { total } = (first?.body['pagination'] ?? {}) as { readonly total?: number }
  if (total !== payments.length) problems.push(`the list counts ${total} payments, stored are ${payments.length}`)

  const shownSettlements = await pagesOf(ask, 'api-list-settlements', 'GET /v1/settlements', settlements.length)
  problems.push(...listed('settlement', SETTLEMENT_FIELDS, shownSettlements, settlements, 'settlement_id'))

  for (const payment of payments) {
    const reply = await ask('api-get-payment', 'GET /v1/payments/{id}', { id: text(payment, 'payment_id') })
    problems.push(...paymentDifferences(reply?.body ?? {}, payment))
  }
  for (const settlement of settlements) {
    const reply = await ask('api-get-settlement', 'GET /v1/settlements/{id}', { id: text(settlement, 'settlement_id') })
    problems.push(
      ...differences(
        `settlement ${text(settlement, 'settlement_id')}`,
        SETTLEMENT_FIELDS,
        reply?.body ?? {},
        settlement,
      ),
    )
  }
  const balance = await ask('api-get-balance', 'GET /v1/balance', { query: { include: 'settlements' } })
  return [...problems, ...balanceProblems(balance?.body ?? {}, own)]
}
