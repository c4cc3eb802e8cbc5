import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { PaymentIdSchema, paymentIdOf } from '../ids.ts'
import { BookDaySchema, endOfBookDay } from '../journal/day-totals.ts'
import {
  CursorTime,
  encodeCursor,
  firstOfPage,
  itemsOfPage,
  pageFields,
  pagination,
  readCursor,
  unreadableDto,
} from '../page.ts'
import { paymentIdsIn, paymentsByReference, readPayments } from '../payment/list-payments.ts'
import type { Payment } from '../payment/payment.ts'
import { toPaymentDto } from '../payment/payment-dto.ts'
import { PAYMENT_METHODS, PAYMENT_STATUSES } from '../payment-status.ts'
import { providerFailure } from '../provider/provider.ts'
import { listSuspenseAbout } from '../suspense/list-suspense.ts'
import { toSuspenseDto } from '../suspense/suspense.ts'
import { destinationPk, paymentKey, rowKeysOf } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { addMs, DAY_MS, type Timestamp } from '../time.ts'

const CRITERIA = [
  'external_reference',
  'payment_destination',
  'provider_payment_id',
  'payment_request_id',
] as const

type SearchDeps = Pick<Deps, 'table' | 'provider'>
type Search = ActionRequest<v.InferOutput<typeof paymentSearch>>

/**
 * Finds payments by a known value, newest first, with suspense items. Throws 404, and 502 without
 * the provider.
 */
export async function searchPayments(deps: SearchDeps, search: Search) {
  if (search.clientId !== undefined) await requireClient(deps, search.clientId)
  const { payments, unreadableIds, complete, ...position } = await findPayments(deps, search)
  const { data, ...suspense } = await addSuspense(deps, payments)
  return {
    data,
    ...unreadableDto([...unreadableIds, ...suspense.unreadableIds]),
    ...position,
    complete: complete && suspense.complete,
  }
}

async function findPayments(deps: SearchDeps, search: Search) {
  const {
    clientId,
    externalReference: reference,
    providerPaymentId,
    paymentRequestId,
    amountMinor,
    day,
  } = search
  if (clientId !== undefined && amountMinor !== undefined && day !== undefined)
    return paymentsOfAmount(deps, { ...search, clientId, amountMinor, day })
  const isOfProvider = providerPaymentId !== undefined || paymentRequestId !== undefined
  const { unreadableIds, complete, ...read } = isOfProvider
    ? await paymentsOfProviderId(deps, search)
    : clientId !== undefined && reference !== undefined
      ? await paymentsByReference(deps, clientId, reference)
      : await paymentsAtDestination(deps, search)
  const rows = read.rows.filter((payment) => payment.clientId === (clientId ?? payment.clientId))
  const isLast = rows.length <= firstOfPage(search) + search.perPage
  return {
    payments: itemsOfPage(rows, search),
    unreadableIds,
    complete: complete && isLast,
    pagination: pagination(search),
  }
}

/** The next call continues at the answer's cursor. */
const MAX_READ = 5_000
const MAX_SHOWN = 100
const PAGE_ITEMS = 100

type AmountSearch = Required<Pick<Search, 'clientId' | 'amountMinor' | 'day'>> &
  Pick<Search, 'status' | 'method' | 'cursor'>

/**
 * A client's payments of an amount on one day (design section 11). `cursor`: for the next call, if
 * more payments are left.
 */
async function paymentsOfAmount(deps: TableDeps, search: AmountSearch) {
  const { clientId, amountMinor, day, cursor } = search
  const end = endOfBookDay(day)
  const between = [addMs(end, -DAY_MS), addMs(end, -1)] as const
  const [owner, entity] = [clientId, 'payment']
  const position = readCursor(positionSchema(between), cursor)
  const pages = queryPages(deps, {
    index: 'by-owner',
    partition: [owner, entity],
    range: { between },
    newestFirst: true,
    limit: PAGE_ITEMS,
    cursor: position && { ...position, owner, entity },
  })
  const payments: Payment[] = []
  const unreadableIds: string[] = []
  let readCount = 0
  for await (const { items, cursor: more } of pages) {
    const read = readPayments(await deps.table.getMany(rowKeysOf('PAYMENT', items)))
    unreadableIds.push(...read.unreadableIds)
    for (const payment of read.rows) {
      if (payment.notionalMinor !== amountMinor) continue
      const { status = payment.status, method = payment.method } = search
      if (payment.status === status && payment.method === method) payments.push(payment)
    }
    readCount += items.length
    if (more && (readCount >= MAX_READ || payments.length >= MAX_SHOWN)) {
      const lastItem = items.at(-1)
      const next =
        lastItem && encodeCursor({ payment_id: lastItem['id'], listed_at: lastItem['listedAt'] })
      return { payments, unreadableIds, complete: false, cursor: next }
    }
  }
  return { payments, unreadableIds, complete: true }
}

/** DynamoDB refuses a position outside the queried span with its own error. */
function positionSchema([start, end]: readonly [Timestamp, Timestamp]) {
  return v.pipe(
    v.strictObject({ payment_id: PaymentIdSchema, listed_at: CursorTime }),
    v.check(({ listed_at: at }) => start <= at && at <= end),
    v.transform(({ payment_id: id, listed_at }) => ({ ...paymentKey(id), listed_at, id })),
  )
}

async function paymentsOfProviderId(
  deps: SearchDeps,
  { providerPaymentId = '', paymentRequestId }: Search,
) {
  const answer =
    paymentRequestId === undefined
      ? await deps.provider.getPayment(providerPaymentId)
      : await deps.provider.getRequest(paymentRequestId)
  if (answer.kind === 'unanswered')
    throw providerFailure(answer, `nothing was found (${answer.reason})`)
  const paymentId = answer.kind === 'found' ? paymentIdOf(answer.value.reference) : undefined
  const read = readPayments(paymentId ? [await deps.table.get(paymentKey(paymentId))] : [])
  return { ...read, complete: true }
}

/** The provider reuses account numbers, but not often. */
const MAX_AT_DESTINATION = 1_000

async function paymentsAtDestination(
  deps: TableDeps,
  { paymentDestination: destination = '' }: Search,
) {
  const { items, cursor } = await deps.table.query({
    partition: [destinationPk(destination)],
    newestFirst: true,
    limit: MAX_AT_DESTINATION,
  })
  const read = readPayments(await deps.table.getMany(paymentIdsIn(items).map(paymentKey)))
  const rows = read.rows.filter(({ paymentDestination: shown }) => shown === destination)
  return { ...read, rows, complete: cursor === undefined }
}

/** `complete`: all items were read, except those of `unreadableIds`. */
async function addSuspense(deps: TableDeps, payments: readonly Payment[]) {
  // The provider may receive money before it answers the create, so the first attempt counts.
  const startTimes = payments.map(
    ({ providerAttempts: [first], createdAt }) => first?.startedAt ?? createdAt,
  )
  const since = startTimes.toSorted()[0]
  if (since === undefined) return { data: [], unreadableIds: [], complete: true }
  const paymentIds: readonly string[] = payments.map(({ paymentId }) => paymentId)
  const { items, ...read } = await listSuspenseAbout(deps, { paymentIds, since })
  const data = payments.map((payment) => {
    const suspense = items.filter(({ paymentId }) => paymentId === payment.paymentId)
    return {
      ...toPaymentDto(payment),
      ...(suspense.length > 0 && { suspense: suspense.map(toSuspenseDto) }),
    }
  })
  return { data, ...read }
}

const FILLED_TEXT = v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty')))
/**
 * An account number as people write it, with spaces and dashes. Links and QR strings are not
 * indexed.
 */
const ACCOUNT_NUMBER = v.pipe(
  v.string(),
  v.regex(
    /^[\s-]*\d[\d\s-]*$/,
    'must be an account number; find a link or a QR string by provider_payment_id, ' +
      'payment_request_id or external_reference',
  ),
  v.transform((text) => text.replace(/[\s-]/g, '')),
)
const AMOUNT_FILTERS = ['day', 'status', 'method', 'cursor'] as const
/** One criterion at a time (design section 11). */
export const paymentSearch = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    external_reference: FILLED_TEXT,
    payment_destination: v.optional(ACCOUNT_NUMBER),
    // The gateway asks the provider by these two, whose answer has the payment's reference.
    provider_payment_id: FILLED_TEXT,
    payment_request_id: FILLED_TEXT,
    amount_minor: v.optional(v.pipe(v.number(), v.safeInteger())),
    /** The day of the create in Asia/Jakarta. */
    day: v.optional(BookDaySchema),
    status: v.optional(v.picklist(PAYMENT_STATUSES)),
    method: v.optional(v.picklist(PAYMENT_METHODS)),
    cursor: v.optional(v.string()),
    ...pageFields,
  }),
  v.check(
    (search) =>
      [...CRITERIA, 'amount_minor' as const].filter((name) => search[name] !== undefined).length ===
      1,
    `give one of ${CRITERIA.join(', ')}, amount_minor`,
  ),
  v.check(
    ({ client_id, external_reference }) =>
      external_reference === undefined || client_id !== undefined,
    'external_reference needs client_id: each merchant has its own',
  ),
  v.check(
    ({ amount_minor, client_id, day }) =>
      amount_minor === undefined || (client_id !== undefined && day !== undefined),
    'amount_minor needs client_id and day, the day of the create in Jakarta',
  ),
  v.check(
    (search) =>
      search.amount_minor !== undefined ||
      AMOUNT_FILTERS.every((name) => search[name] === undefined),
    `${AMOUNT_FILTERS.join(', ')} need amount_minor`,
  ),
  v.check(
    ({ amount_minor, page }) => amount_minor === undefined || page === 1,
    'amount_minor takes cursor, not page',
  ),
)
