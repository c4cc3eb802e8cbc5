import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, paymentIdForKey } from '../ids.ts'
import { countOf, readLedger } from '../ledger/ledger-store.ts'
import { firstOfPage, itemsOfPage, newestFirst, type Page } from '../page.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { referencePk } from '../table/keys.ts'
import { listItems, queryPages } from '../table/list-items.ts'
import type { Payment } from './payment.ts'
import { findPaymentsByKey, findStoredPayment, isForeign, PaymentSchema } from './payment-store.ts'

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
  deps: TableDeps,
  { clientId, status, page }: Omit<PaymentQuery, 'reference'>,
): Promise<PaymentList> {
  const ledger = await readLedger(deps, clientId)
  const statuses: readonly PaymentStatus[] = status === undefined ? PAYMENT_STATUSES : [status]
  const total = statuses.reduce((sum, countedStatus) => sum + countOf(ledger, countedStatus), 0)
  if (firstOfPage(page) >= total) return { payments: [], total }
  const items = await listItems(deps, {
    kind: 'PAYMENT',
    ...(status === undefined
      ? { index: 'by-owner', partition: [clientId, 'payment'] }
      : { index: 'by-status', partition: [clientId, 'payment', status] }),
    page,
    reads: 'eventual',
  })
  const payments = items.map((item) => v.parse(PaymentSchema, item))
  return { payments: payments.filter((payment) => !isForeign(payment)), total }
}

/** The payment of a key. A payment that is still being created counts as absent. */
export async function paymentsOfKey(
  deps: TableDeps,
  {
    clientId,
    key,
    page,
  }: { readonly clientId: ClientId; readonly key: string; readonly page: Page },
): Promise<PaymentList> {
  const stored = await findStoredPayment(deps, paymentIdForKey(clientId, key))
  const isVisible =
    stored !== undefined && stored.status !== 'creating' && stored.clientId === clientId
  return isVisible
    ? { payments: itemsOfPage([stored], page), total: 1 }
    : { payments: [], total: 0 }
}

/** The most payments of one reference that can be listed. Each may have to be read. */
const MAX_OF_REFERENCE = 1_000

/**
 * One page of a client's payments with a reference, newest first, with the exact total. All reads
 * are consistent, so a payment is found as soon as its create is answered. Throws 422 for more than
 * a thousand.
 */
export async function paymentsOfReference(
  deps: TableDeps,
  { clientId, reference, status, page }: PaymentQuery,
): Promise<PaymentList> {
  const ids = await idsOfReference(deps, clientId, reference)
  if (ids.length > MAX_OF_REFERENCE) {
    throw invalid(
      `external_reference: more than ${MAX_OF_REFERENCE} payments have it`,
      { external_reference: ['too many payments'] },
      'List payments without it, or fetch one by its id or idempotency key. Give each order a ' +
        'reference of its own.',
    )
  }
  const payments = await paymentsOf(deps, { clientId, reference, ids })
  const matches = payments.filter((payment) => status === undefined || payment.status === status)
  return { payments: itemsOfPage(matches, page), total: matches.length }
}

/** A thousand pointers are less than one page of the table. */
async function idsOfReference(deps: TableDeps, clientId: ClientId, reference: string) {
  const partition = [referencePk(clientId, reference)]
  const { items } = await deps.table.query({ partition, limit: MAX_OF_REFERENCE + 1 })
  return idsIn(items)
}

function idsIn(pointers: readonly Item[]) {
  return pointers.map(({ paymentId }) => v.parse(PaymentIdSchema, paymentId))
}

/** A pointer may be stale, so each payment is checked. */
async function paymentsOf(
  deps: TableDeps,
  {
    clientId,
    reference,
    ids,
  }: { clientId: ClientId; reference: string; ids: readonly PaymentId[] },
): Promise<readonly Payment[]> {
  return (await findPaymentsByKey(deps, ids))
    .filter((payment) => payment.clientId === clientId && payment.externalReference === reference)
    .filter((payment) => !isForeign(payment))
    .toSorted(newestFirst(({ paymentId }) => paymentId))
}

/** The newest thousand of the reference. `complete`: the client has no more. */
export async function paymentsByReference(deps: TableDeps, clientId: ClientId, reference: string) {
  const ids = await idsOfReference(deps, clientId, reference)
  const payments = await paymentsOf(deps, {
    clientId,
    reference,
    ids: ids.slice(0, MAX_OF_REFERENCE),
  })
  return { payments, complete: ids.length <= MAX_OF_REFERENCE }
}

export async function* pagesOfReference(deps: TableDeps, clientId: ClientId, reference: string) {
  const pages = queryPages(deps, { partition: [referencePk(clientId, reference)], limit: 100 })
  for await (const { items } of pages)
    yield await paymentsOf(deps, { clientId, reference, ids: idsIn(items) })
}
