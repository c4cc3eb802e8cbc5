import type { ListDeps, TableDeps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, paymentIdForKey } from '../ids.ts'
import { ifValid, readableRows, readRows } from '../if-valid.ts'
import { countOf, readLedger } from '../ledger/ledger-store.ts'
import { firstOfPage, itemsOfPage, newestFirst, type Page } from '../page.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { idOf, paymentKey, referencePk } from '../table/keys.ts'
import { listItems, queryPages, readMany, UNITS_A_KEY } from '../table/list-items.ts'
import { reserveUnits } from '../table/used-units.ts'
import type { Payment } from './payment.ts'
import {
  findStoredPayment,
  isForeign,
  PaymentSchema,
  StoredPaymentSchema,
} from './payment-store.ts'

type PaymentList = { readonly payments: readonly Payment[]; readonly total: number }

type PaymentQuery = {
  clientId: ClientId
  reference: string
  status: PaymentStatus | undefined
  page: Page
}

/**
 * One page of a client's payments, newest first, with the exact total (spec 4.2). The index and the
 * payments are eventually consistent: a new payment or status may appear a moment later, and a
 * payment that no longer matches is left out.
 */
export async function listPayments(
  deps: ListDeps,
  { clientId, status, page }: Omit<PaymentQuery, 'reference'>,
): Promise<PaymentList> {
  const ledger = await readLedger(deps, clientId)
  const statuses: readonly PaymentStatus[] = status === undefined ? PAYMENT_STATUSES : [status]
  const total = statuses.reduce((sum, countedStatus) => sum + countOf(ledger, countedStatus), 0)
  if (firstOfPage(page) >= total) return { payments: [], total }
  await reserveUnits(UNITS_A_KEY * Math.min(total, firstOfPage(page) + page.perPage))
  const items = await listItems(deps, {
    kind: 'PAYMENT',
    ...(status === undefined
      ? { index: 'by-owner', partition: [clientId, 'payment'] }
      : { index: 'by-status', partition: [clientId, 'payment', status] }),
    page,
    reads: 'eventual',
  })
  const payments = readableRows(deps, 'payment', readRows(PaymentSchema, items))
  return { payments: payments.filter((payment) => !isForeign(payment)), total }
}

/** The payment of a key. A payment that is still being created counts as absent. */
export async function paymentsOfKey(
  deps: TableDeps,
  { clientId, key, page }: Pick<PaymentQuery, 'clientId' | 'page'> & { readonly key: string },
): Promise<PaymentList> {
  const stored = await findStoredPayment(deps, paymentIdForKey(clientId, key))
  const isVisible = stored !== undefined && stored.status !== 'creating' && !isForeign(stored)
  return isVisible
    ? { payments: itemsOfPage([stored], page), total: 1 }
    : { payments: [], total: 0 }
}

/** The newest payments of one reference that a merchant can list. Each may have to be read. */
const MAX_OF_REFERENCE = 100

/**
 * One page of a client's newest payments with a reference, newest first; the total counts these
 * payments. All reads are consistent, so a payment is found as soon as its create is answered.
 */
export async function paymentsOfReference(
  deps: ListDeps,
  { clientId, reference, status, page }: PaymentQuery,
): Promise<PaymentList> {
  const pointers = await pointersOf(deps, clientId, reference, MAX_OF_REFERENCE)
  const read = await paymentsOf(deps, clientId, reference, pointers)
  const payments = readableRows(deps, 'payment', read)
  const matches = payments.filter((payment) => status === undefined || payment.status === status)
  return { payments: itemsOfPage(matches, page), total: matches.length }
}

async function pointersOf(deps: TableDeps, clientId: ClientId, reference: string, limit: number) {
  const partition = [referencePk(clientId, reference)]
  return (await deps.table.query({ partition, limit, newestFirst: true })).items
}

/**
 * By the keys: an altered or a forged pointer must not stop the list. A commit that was tried
 * again may have left a pointer with another time.
 */
export function paymentIdsIn(pointers: readonly Item[]): readonly PaymentId[] {
  return [
    ...new Set(pointers.flatMap(({ sk }) => ifValid(PaymentIdSchema, idOf(String(sk))) ?? [])),
  ]
}

/** Without absent and invisible payments. */
export function readPayments(items: readonly (Item | undefined)[]) {
  const read = readRows(StoredPaymentSchema, items, ({ pk }) => idOf(String(pk)))
  return { ...read, rows: read.rows.filter((row) => row.status !== 'creating') }
}

/** A pointer may be stale, so each payment is checked. */
async function paymentsOf(
  deps: TableDeps,
  clientId: ClientId,
  reference: string,
  pointers: readonly Item[],
) {
  const keys = paymentIdsIn(pointers).map(paymentKey)
  const { rows, unreadableIds } = readPayments(await readMany(deps, keys))
  const payments = rows
    .filter(
      (payment) =>
        payment.clientId === clientId &&
        payment.externalReference === reference &&
        !isForeign(payment),
    )
    .toSorted(newestFirst(({ paymentId }) => paymentId))
  return { rows: payments, unreadableIds }
}

/** The most payments of one reference that an operator's search reads. */
const MAX_OF_SEARCH = 1_000

/** The newest thousand of the reference. `complete`: the client has no more. */
export async function paymentsByReference(deps: TableDeps, clientId: ClientId, reference: string) {
  const pointers = await pointersOf(deps, clientId, reference, MAX_OF_SEARCH + 1)
  const read = await paymentsOf(deps, clientId, reference, pointers.slice(0, MAX_OF_SEARCH))
  return { ...read, complete: pointers.length <= MAX_OF_SEARCH }
}

export async function* pagesOfReference(deps: TableDeps, clientId: ClientId, reference: string) {
  const pages = queryPages(deps, { partition: [referencePk(clientId, reference)], limit: 100 })
  for await (const { items } of pages) yield await paymentsOf(deps, clientId, reference, items)
}
