/**
 * Compares the API's answers with the table's raw items: reads and lists agree with the stored
 * data.
 */
import { booksOf, clientOf, openNet, type RawItem, sum, text } from '../../support/recount/books.ts'
import type { HttpReply, HttpRequest } from '../world/lambda.ts'
import { DAY_MS } from '../world/rules.ts'
import type { Tenant } from '../world/tenants.ts'

/** Small, so that even short lists have several pages. */
const PER_PAGE = 7

type Ask = (functionName: string, asked?: HttpRequest) => Promise<HttpReply | undefined>

type Shown = Readonly<Record<string, unknown>>

const SHOWN = {
  payment: (row: RawItem) => ({
    id: row['payment_id'],
    xendit_fee_minor: row['provider_fee_minor'],
    hexolus_markup_minor: row['markup_minor'],
    client_net_minor: row['net_minor'],
    ...pick(
      row,
      'client_id external_reference notional_minor fee_status status payment_destination',
    ),
    ...pick(row, 'created_at paid_at expires_at'),
  }),
  settlement: (row: RawItem) => ({
    id: row['settlement_id'],
    xendit_fees_minor: row['fee_minor'],
    hexolus_markup_minor: row['markup_minor'],
    // The public period is the swept window less 24 hours.
    period_start: dayBefore(row['swept_from']),
    period_end: dayBefore(row['swept_until']),
    ...pick(row, 'client_id gross_minor net_minor payment_count status'),
  }),
  delivery: (row: RawItem) => ({
    id: row['delivery_id'],
    // The name of an event begins with its type.
    event: text(row, 'event_name').split('#')[0],
    ...subjectOf(row),
    ...pick(row, 'event_id endpoint_id url status created_at'),
  }),
}

type Kind = keyof typeof SHOWN

export function differences(kind: Kind, shown: Shown | undefined, stored: RawItem, how = '') {
  return different(`${how}${kind} ${idOf(kind, stored)}`, shown, SHOWN[kind](stored))
}

function different(who: string, shown: Shown = {}, stored: Shown) {
  return Object.entries(stored)
    .filter(([name, value]) => shown[name] !== value)
    .map(
      ([name, value]) => `${who}: ${name} is ${String(shown[name])}, is stored as ${String(value)}`,
    )
}

function subjectOf({ subject }: RawItem): Shown {
  const { kind, id } = Object(subject)
  return { payment_id: undefined, settlement_id: undefined, [`${kind}_id`]: id }
}

function idOf(kind: Kind, item: RawItem) {
  return String(SHOWN[kind](item).id)
}

export async function readBackProblems(items: readonly RawItem[], { clientId }: Tenant, ask: Ask) {
  const own = ownBooks(items, clientId)
  return [
    ...(await listProblems(ask, 'payment', own.payments)),
    ...(await countProblems(ask, own.payments)),
    ...(await referenceProblems(ask, own.payments, own.references)),
    ...(await listProblems(ask, 'settlement', own.settlements)),
    ...(await listProblems(ask, 'delivery', own.deliveries)),
    ...(await balanceProblems(ask, own)),
    ...(await entriesProblems(ask, own)),
    ...(await statementProblems(ask, own)),
  ]
}

function ownBooks(items: readonly RawItem[], clientId: string) {
  const books = booksOf(items)
  const own = ({ client_id: owner }: RawItem) => owner === clientId
  const references = books.payments
    .flatMap(({ external_reference: reference }) => reference ?? [])
    .map(String)
  return {
    references: new Set(references),
    ledger: [...books.shards, ...books.windows].filter((item) => clientOf(item) === clientId),
    payments: newestFirst('payment', 'created_at', books.payments.filter(own)),
    settlements: newestFirst('settlement', 'swept_until', books.settlements.filter(own)),
    deliveries: newestFirst('delivery', 'created_at', books.deliveries.filter(own)),
  }
}

function newestFirst(kind: Kind, by: string, items: readonly RawItem[]) {
  return items.toSorted(
    (a, b) => text(b, by).localeCompare(text(a, by)) || idOf(kind, b).localeCompare(idOf(kind, a)),
  )
}

const LISTS = {
  payment: 'api-list-payments',
  settlement: 'api-list-settlements',
  delivery: 'api-list-webhook-deliveries',
} satisfies Record<Kind, string>

type Filter = Readonly<Record<string, string>>

async function listProblems(ask: Ask, kind: Kind, stored: readonly RawItem[], filter?: Filter) {
  const listed: Shown[] = []
  for (let page = 1; page <= Math.ceil(stored.length / PER_PAGE) + 1; page++) {
    const reply = await ask(LISTS[kind], {
      query: { ...filter, page: String(page), per_page: String(PER_PAGE) },
    })
    listed.push(...((reply?.body['data'] ?? []) as Shown[]))
  }
  return listed.map(({ id }) => String(id)).join() === stored.map((item) => idOf(kind, item)).join()
    ? stored.flatMap((item, at) => differences(kind, listed[at], item, 'listed '))
    : [`${LISTS[kind]} ${JSON.stringify(filter)} has ${listed.length}, stored are ${stored.length}`]
}

async function countProblems(ask: Ask, payments: readonly RawItem[], filter: Filter = {}) {
  const first = await ask('api-list-payments', { query: filter })
  const { total } = (first?.body['pagination'] ?? {}) as { readonly total?: number }
  return total === payments.length
    ? []
    : [`the list counts ${total} payments, stored are ${payments.length}`]
}

async function referenceProblems(
  ask: Ask,
  own: readonly RawItem[],
  references: ReadonlySet<string>,
) {
  const problems: string[] = []
  for (const reference of references) {
    const meant = own.filter((item) => item['external_reference'] === reference)
    const paid = meant.filter(({ status }) => status === 'succeeded')
    const filter = { external_reference: reference }
    problems.push(...(await listProblems(ask, 'payment', meant, filter)))
    problems.push(...(await listProblems(ask, 'payment', paid, { ...filter, status: 'succeeded' })))
    problems.push(...(await countProblems(ask, meant, filter)))
  }
  return problems
}

/** The recount holds the ledger's own figures against entries and settlements. */
async function balanceProblems(ask: Ask, { ledger }: ReturnType<typeof ownBooks>) {
  const shown = (await ask('api-get-balance', { query: { include: 'settlements' } }))?.body ?? {}
  const changes = ledger.flatMap((item) => item['credited_at'] ?? item['changed_at'] ?? [])
  const taken = {
    available_minor: sum(ledger, 'available_minor'),
    in_settlement_minor: sum(ledger, 'in_settlement_minor'),
    paid_out_minor: sum(ledger, 'paid_out_minor'),
  }
  const expected = {
    ...taken,
    pending_minor: sum(ledger, 'credited_minor') - Object.values(taken).reduce((a, b) => a + b),
    updated_at: changes.map(String).toSorted().at(-1) ?? null,
  }
  return Object.entries(expected).every(([figure, value]) => shown[figure] === value)
    ? []
    : [`the balance shows ${JSON.stringify(shown)}; the ledger says ${JSON.stringify(expected)}`]
}

/** Large, because entries are many and this list is read once. */
const ENTRIES_PER_PAGE = 50
const MAX_PAGES = 1_000

/**
 * Every entry of the balance once, and the nets of open payments: together the four figures of the
 * balance. A re-credit counts nowhere.
 */
async function entriesProblems(ask: Ask, { ledger, payments }: ReturnType<typeof ownBooks>) {
  const shown: Shown[] = []
  let after: string | undefined
  for (let page = 1; page <= MAX_PAGES; page++) {
    const query = { limit: String(ENTRIES_PER_PAGE), ...(after !== undefined && { after }) }
    const body = (await ask('api-list-balance-entries', { query }))?.body ?? {}
    shown.push(...((body['data'] ?? []) as Shown[]))
    after = typeof body['next'] === 'string' ? body['next'] : undefined
    if (after === undefined) break
  }
  const found = sum(shown, 'client_net_minor') + openNet(payments)
  const expected = sum(ledger, 'credited_minor')
  return found === expected
    ? []
    : [`entries and open payments add up to ${found}; the balance says ${expected}`]
}

/** Today's closing is all credits less open payments and payouts: opening and every line. */
async function statementProblems(ask: Ask, { ledger, payments }: ReturnType<typeof ownBooks>) {
  const lines: Shown[] = []
  let page: Shown = {}
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const query: Filter = {
      limit: String(ENTRIES_PER_PAGE),
      ...(pages > 0 && { after: String(page['next']) }),
    }
    page = (await ask('api-get-statement', { query }))?.body ?? {}
    lines.push(...((page['lines'] ?? []) as Shown[]))
    if (typeof page['next'] !== 'string') break
  }
  const added = Number(page['opening_minor']) + sum(lines, 'amount_minor')
  const closing = page['closing_minor']
  const expected = sum(ledger, 'credited_minor') - sum(ledger, 'paid_out_minor') - openNet(payments)
  return closing === expected && added === expected
    ? []
    : [`the statement closes at ${String(closing)}, adds up to ${added}; owed are ${expected}`]
}

function pick(item: RawItem, names: string) {
  return Object.fromEntries(names.split(' ').map((name) => [name, item[name]]))
}

function dayBefore(at: unknown) {
  return new Date(Date.parse(String(at)) - DAY_MS).toISOString()
}
