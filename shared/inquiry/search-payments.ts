import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { PaymentIdSchema, paymentIdOf } from '../ids.ts'
import { BookDaySchema, endOfBookDay } from '../journal/day-totals.ts'
import { readParts } from '../ledger/window-store.ts'
import {
  CursorTime,
  encodeCursor,
  firstOfPage,
  ofPage,
  pageFields,
  pagination,
  readCursor,
} from '../page.ts'
import { paymentsByReference } from '../payment/list-payments.ts'
import type { Payment } from '../payment/payment.ts'
import { toPaymentDto } from '../payment/payment-dto.ts'
import { findPaymentsByKey, findStoredPayment, PaymentSchema } from '../payment/payment-store.ts'
import { PAYMENT_METHODS, PAYMENT_STATUSES } from '../payment-status.ts'
import { providerFailure } from '../provider/provider.ts'
import { suspenseAbout } from '../suspense/list-suspense.ts'
import { toSuspenseDto } from '../suspense/suspense.ts'
import { destinationKey, destinationPk, ownersOf, paymentKey, rowKeyOf } from '../table/keys.ts'
import { mergedPages, shareOf } from '../table/list-items.ts'
import { addMs, DAY_MS, type Timestamp } from '../time.ts'

const CRITERIA = [
  'external_reference',
  'payment_destination',
  'provider_payment_id',
  'payment_request_id',
] as const

type SearchDeps = Pick<Deps, 'table' | 'provider'>
type Search = ActionRequest<v.InferOutput<typeof paymentSearch>>

/** Finds payments by a known value, newest first, with suspense items. Throws 404, and 502 without the provider. */
export async function searchPayments(deps: SearchDeps, search: Search) {
  if (search.clientId !== undefined) await requireClient(deps, search.clientId)
  const { payments, complete, ...position } = await paymentsFound(deps, search)
  const shown = await withSuspense(deps, payments)
  return { ...shown, ...position, complete: complete && shown.complete }
}

async function paymentsFound(deps: SearchDeps, search: Search) {
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
  const { payments, complete } = isOfProvider
    ? await byProviderId(deps, search)
    : clientId !== undefined && reference !== undefined
      ? await paymentsByReference(deps, clientId, reference)
      : await paymentsAtDestination(deps, search)
  const isLast = payments.length <= firstOfPage(search) + search.perPage
  return {
    payments: ofPage(payments, search),
    complete: complete && isLast,
    pagination: pagination(search),
  }
}

/** A call ends after so many payments read or found. The next call continues at its cursor. */
const MAX_READ = 5_000
const MAX_SHOWN = 100
const PAGE = 100

type AmountSearch = Required<Pick<Search, 'clientId' | 'amountMinor' | 'day'>> &
  Pick<Search, 'status' | 'method' | 'cursor'>

/** A client's payments of an amount on one day (design section 11). `cursor`: that of the next call, if there is more. */
async function paymentsOfAmount(deps: TableDeps, search: AmountSearch) {
  const { clientId, amountMinor, day, cursor } = search
  const partitions = ownersOf(clientId, await readParts(deps, clientId)).map((owner) => [
    owner,
    'payment',
  ])
  const end = endOfBookDay(day)
  const between = [addMs(end, -DAY_MS), addMs(end, -1)] as const
  const limit = shareOf(PAGE, partitions)
  const input = {
    index: 'by-owner',
    partitions,
    range: { between },
    newestFirst: true,
    limit,
  } as const
  const found: Payment[] = []
  let readCount = 0
  const after = readCursor(positionIn(between), cursor)
  for await (const { items, more } of mergedPages(deps, input, after)) {
    const stored = await deps.table.getMany(items.map((item) => rowKeyOf('PAYMENT', item)))
    for (const item of stored) {
      const payment = item && v.parse(PaymentSchema, item)
      if (payment?.notionalMinor !== amountMinor) continue
      const { status = payment.status, method = payment.method } = search
      if (payment.status === status && payment.method === method) found.push(payment)
    }
    readCount += items.length
    if (more && (readCount >= MAX_READ || found.length >= MAX_SHOWN)) {
      const last = items.at(-1)
      const next = last && encodeCursor({ payment_id: last['id'], listed_at: last['listedAt'] })
      return { payments: found, complete: false, cursor: next }
    }
  }
  return { payments: found, complete: true }
}

/** The position in a cursor. DynamoDB refuses one outside the queried span with its own error. */
function positionIn([start, end]: readonly [Timestamp, Timestamp]) {
  return v.pipe(
    v.strictObject({ payment_id: PaymentIdSchema, listed_at: CursorTime }),
    v.check(({ listed_at: at }) => start <= at && at <= end),
    v.transform(({ payment_id: id, listed_at }) => ({ ...paymentKey(id), listed_at, id })),
  )
}

async function byProviderId(
  deps: SearchDeps,
  { clientId, providerPaymentId = '', paymentRequestId }: Search,
) {
  const answer =
    paymentRequestId === undefined
      ? await deps.provider.getPayment(providerPaymentId)
      : await deps.provider.getRequest(paymentRequestId)
  if (answer.kind === 'unanswered')
    throw providerFailure(answer, `nothing was found (${answer.reason})`)
  const paymentId = answer.kind === 'found' ? paymentIdOf(answer.value.reference) : undefined
  const payment = paymentId && (await findStoredPayment(deps, paymentId))
  const isShown =
    payment && payment.status !== 'creating' && payment.clientId === (clientId ?? payment.clientId)
  return { payments: isShown ? [payment] : [], complete: true }
}

/** The provider reuses numbers, but not often. */
const MAX_AT_DESTINATION = 1_000

/** Payments that showed an account number, of one client or of all clients, because the provider reuses account numbers. */
async function paymentsAtDestination(
  deps: TableDeps,
  { clientId, paymentDestination: destination = '' }: Search,
) {
  const { items, cursor } = await deps.table.query({
    partition: [destinationPk(destination)],
    newestFirst: true,
    limit: MAX_AT_DESTINATION,
  })
  const ids = new Set(items.map(({ paymentId }) => v.parse(PaymentIdSchema, paymentId)))
  const pointed = new Set(items.map(({ sk }) => sk))
  const payments = (await findPaymentsByKey(deps, [...ids])).filter(
    (payment) =>
      payment.paymentDestination === destination &&
      payment.clientId === (clientId ?? payment.clientId) &&
      pointed.has(destinationKey(destination, payment.createdAt, payment.paymentId).sk),
  )
  return { payments, complete: cursor === undefined }
}

/** The payments for operators, each with its suspense items. `complete`: all items were read. */
async function withSuspense(deps: TableDeps, payments: readonly Payment[]) {
  // The provider may receive money before it answers the create, so the first attempt counts.
  const begun = payments.map(
    ({ providerAttempts: [first], createdAt }) => first?.startedAt ?? createdAt,
  )
  const since = begun.toSorted()[0]
  if (since === undefined) return { data: [], complete: true }
  const paymentIds: readonly string[] = payments.map(({ paymentId }) => paymentId)
  const { items, complete } = await suspenseAbout(deps, { paymentIds, since })
  const data = payments.map((payment) => {
    const own = items.filter(({ paymentId }) => paymentId === payment.paymentId)
    return { ...toPaymentDto(payment), ...(own.length > 0 && { suspense: own.map(toSuspenseDto) }) }
  })
  return { data, complete }
}

const filled = v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty')))
/** As people write it, with spaces and dashes. Links and QR strings are not indexed. */
const ACCOUNT_NUMBER = v.pipe(
  v.string(),
  v.regex(
    /^[\s-]*\d[\d\s-]*$/,
    'must be an account number; find a link or a QR string by provider_payment_id, payment_request_id or external_reference',
  ),
  v.transform((text) => text.replace(/[\s-]/g, '')),
)
const AMOUNT_FILTERS = ['day', 'status', 'method', 'cursor'] as const
/** The payment search of operators: by one criterion at a time (design section 11). */
export const paymentSearch = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    external_reference: filled,
    payment_destination: v.optional(ACCOUNT_NUMBER),
    // For these two the gateway asks the provider, whose answer has the payment's reference.
    provider_payment_id: filled,
    payment_request_id: filled,
    amount_minor: v.optional(v.pipe(v.number(), v.safeInteger())),
    /** The day of the create in Asia/Jakarta. */
    day: v.optional(BookDaySchema),
    status: v.optional(v.picklist(PAYMENT_STATUSES)),
    method: v.optional(v.picklist(PAYMENT_METHODS)),
    cursor: v.optional(v.string()),
    ...pageFields,
  }),
  v.check(
    (asked) =>
      [...CRITERIA, 'amount_minor' as const].filter((name) => asked[name] !== undefined).length ===
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
    (asked) =>
      asked.amount_minor !== undefined || AMOUNT_FILTERS.every((name) => asked[name] === undefined),
    `${AMOUNT_FILTERS.join(', ')} need amount_minor`,
  ),
  v.check(
    ({ amount_minor, page }) => amount_minor === undefined || page === 1,
    'amount_minor takes cursor, not page',
  ),
)
