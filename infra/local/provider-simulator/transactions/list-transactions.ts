import * as v from 'valibot'
import { ProviderError, parseInput } from '../provider-error.ts'
import type { Transaction } from '../provider-objects.ts'
import type { TransactionRecord } from '../simulator-store.ts'
import type { World } from '../world.ts'
import { applyRowFaults } from './transaction-rows.ts'

const DEFAULT_LIMIT = 10
// The provider does not publish its maximum. A larger limit is cut, as `has_more` shows.
const MAX_LIMIT = 50

const Limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,15}$/, 'must be a whole number'),
  v.transform(Number),
  v.minValue(1),
)
const Instant = v.pipe(
  v.string(),
  v.transform((value) => Date.parse(value)),
  v.number('must be an ISO 8601 time'),
)

/** Rows of a type that is documented elsewhere come only without a filter. */
const TYPES =
  'ADJUSTMENT_ADD ADJUSTMENT_DEDUCT BNPL_PARTNER_SETTLEMENT_CREDIT BNPL_PARTNER_SETTLEMENT_DEBIT ' +
  'CASHBACK_FEE CASHBACK_VAT CHARGEBACK CONVERSION DISBURSEMENT FOREX_DEDUCTION FOREX_DEPOSIT ' +
  'IN_PERSON_PAYMENT LOAN_REPAYMENT OTHER PAYMENT REFUND REMITTANCE ' +
  'REMITTANCE_COLLECTION_PAYMENT REMITTANCE_PAYOUT RESERVES_HOLD RESERVES_RELEASE TOPUP ' +
  'TRANSFER_IN TRANSFER_OUT WITHDRAWAL'
const STATUSES = 'PENDING SUCCESS FAILED VOIDED REVERSED'
const CATEGORIES =
  'BANK CARDS CARDLESS_CREDIT CASH DIRECT_DEBIT EWALLET PAYLATER QR_CODE RETAIL_OUTLET ' +
  'VIRTUAL_ACCOUNT XENPLATFORM OTHER'

const Query = v.object({
  types: v.array(v.picklist(TYPES.split(' '))),
  statuses: v.array(v.picklist(STATUSES.split(' '))),
  channel_categories: v.array(v.picklist(CATEGORIES.split(' '))),
  reference_id: v.optional(v.string()),
  product_id: v.optional(v.string()),
  'created[gte]': v.optional(Instant),
  'created[lte]': v.optional(Instant),
  'updated[gte]': v.optional(Instant),
  'updated[lte]': v.optional(Instant),
  limit: v.optional(Limit),
  after_id: v.optional(v.string()),
})

type Query = v.InferOutput<typeof Query>

/** `GET /transactions`: the latest created first. Refuses an unknown cursor. */
export function listTransactions(world: World, search: URLSearchParams) {
  const query = parseInput(Query, {
    ...Object.fromEntries(search),
    types: search.getAll('types'),
    statuses: search.getAll('statuses'),
    channel_categories: search.getAll('channel_categories'),
  })
  const newest = world.store.transactions
    .all()
    .findLast((record) => isShown(world, record) && matchesQuery(record.row, query))
  if (newest) applyRowFaults(world, newest.id)
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT)
  const rows = rowsBeyondCursor(world, query).filter((row) => matchesQuery(row, query))
  const data = rows.slice(0, limit)
  const hasMore = rows.length > data.length
  return { has_more: hasMore, data, links: hasMore ? [nextLink(search, data)] : [] }
}

function matchesQuery(row: Transaction, query: Query) {
  return (
    isAllowed(query.types, row.type) &&
    isAllowed(query.statuses, row.status) &&
    isAllowed(query.channel_categories, row.channel_category) &&
    isSame(query.reference_id, row.reference_id) &&
    isSame(query.product_id, row.product_id) &&
    isWithin(row.created, query['created[gte]'], query['created[lte]']) &&
    isWithin(row.updated, query['updated[gte]'], query['updated[lte]'])
  )
}

function isAllowed(allowed: readonly string[], value: string) {
  return allowed.length === 0 || allowed.includes(value)
}

function isSame(filter: string | undefined, value: string) {
  return filter === undefined || filter === value
}

function isWithin(timestamp: string, fromMs: number | undefined, toMs: number | undefined) {
  if (fromMs === undefined && toMs === undefined) return true
  const ms = Date.parse(timestamp)
  return ms >= (fromMs ?? ms) && ms <= (toMs ?? ms)
}

// Before the filter, because the cursor's row may have left an `updated` window since the last
// page.
function rowsBeyondCursor(world: World, query: Query) {
  const rows = world.store.transactions
    .all()
    .toReversed()
    .flatMap((record) => shownRows(world, record))
    .toSorted(latestFirst)
  return query.after_id === undefined ? rows : rows.slice(positionOf(rows, query.after_id) + 1)
}

function latestFirst({ created: one }: Transaction, { created: other }: Transaction) {
  return Number(one < other) - Number(one > other)
}

function isShown(world: World, { missing, shownAtMs = 0 }: TransactionRecord) {
  return !missing && shownAtMs <= world.nowMs()
}

function shownRows(world: World, record: TransactionRecord) {
  if (!isShown(world, record)) return []
  return record.duplicateId === undefined
    ? [record.row]
    : [record.row, { ...record.row, id: record.duplicateId }]
}

function positionOf(rows: readonly Transaction[], id: string) {
  const position = rows.findIndex((row) => row.id === id)
  if (position === -1)
    throw new ProviderError('API_VALIDATION_ERROR', `cursor '${id}' is not among the transactions`)
  return position
}

function nextLink(search: URLSearchParams, data: readonly Transaction[]) {
  const next = new URLSearchParams(search)
  next.set('after_id', data.at(-1)?.id ?? '')
  return { href: `/transactions?${next.toString()}`, rel: 'next', method: 'GET' } as const
}

const BalanceQuery = v.object({
  account_type: v.optional(v.literal('CASH', 'account_type must be CASH here'), 'CASH'),
})

/** `GET /balance`, from the rows, each id for itself. */
export function getBalance(world: World, search: URLSearchParams): { readonly balance: number } {
  parseInput(BalanceQuery, Object.fromEntries(search))
  const copiesOf = ({ duplicateId }: TransactionRecord) => (duplicateId === undefined ? 1 : 2)
  const amounts = world.store.transactions
    .all()
    .map((record) => copiesOf(record) * amountOf(record.row))
  return { balance: amounts.reduce((sum, amount) => sum + amount, 0) }
}

/** A payment counts after settlement, other rows after success, reversed rows never. */
function amountOf({
  type,
  status,
  settlement_status: settlement,
  net_amount: net,
  cashflow,
}: Transaction) {
  if (status !== 'SUCCESS' || (type === 'PAYMENT' && !settlement?.endsWith('SETTLED'))) return 0
  return cashflow === 'MONEY_OUT' ? -Math.abs(net) : net
}
