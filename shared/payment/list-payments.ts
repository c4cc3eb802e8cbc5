import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, paymentIdForKey } from '../ids.ts'
import { countOf, countOfAll, readLedger } from '../ledger/ledger-store.ts'
import { readParts } from '../ledger/window-store.ts'
import { firstOfPage, type Page } from '../page.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { ownersOf, referencePk } from '../table/keys.ts'
import { listMergedItems, queryPages } from '../table/list-items.ts'
import type { Payment } from './payment.ts'
import { findPaymentsByKey, findStoredPayment, PaymentSchema } from './payment-store.ts'

type PaymentList = { readonly payments: readonly Payment[]; readonly total: number }

/**
 * One page of a client's payments, newest first, with the exact total (spec 4.2). The total costs one consistent query
 * of the ledger's counts; a page past the end costs nothing more. The index and the payments are eventually consistent,
 * so a new payment or status may appear a moment later. A payment whose status no longer matches the filter is left
 * out.
 */
export const listPayments = async (
  deps: TableDeps,
  input: { readonly clientId: ClientId; readonly status: PaymentStatus | undefined; readonly page: Page },
): Promise<PaymentList> => {
  const { clientId, status, page } = input
  const ledger = await readLedger(deps, clientId)
  const total = status === undefined ? countOfAll(ledger) : countOf(ledger, status)
  if (firstOfPage(page) >= total) return { payments: [], total }
  const owners = ownersOf(clientId, ledger.window.parts)
  const items = await listMergedItems(deps, {
    kind: 'PAYMENT',
    ...(status === undefined
      ? { index: 'by-owner', partitions: owners.map((owner) => [owner, 'payment']) }
      : { index: 'by-status', partitions: owners.map((owner) => [owner, 'payment', status]) }),
    page,
    reads: 'eventual',
  })
  return { payments: items.map((item) => v.parse(PaymentSchema, item)), total }
}

/** The payment of an idempotency key, or none. One that is still being created counts as none. */
export const paymentsOfKey = async (
  deps: TableDeps,
  { clientId, key, page }: { readonly clientId: ClientId; readonly key: string; readonly page: Page },
): Promise<PaymentList> => {
  const stored = await findStoredPayment(deps, paymentIdForKey(clientId, key))
  if (stored === undefined || stored.status === 'creating' || stored.clientId !== clientId)
    return { payments: [], total: 0 }
  return { payments: firstOfPage(page) === 0 ? [stored] : [], total: 1 }
}

/** The most payments of one reference that can be listed. Each may have to be read. */
export const MOST_OF_REFERENCE = 1_000

type Asked = {
  readonly clientId: ClientId
  readonly reference: string
  readonly status: PaymentStatus | undefined
  readonly page: Page
}

/**
 * One page of a client's payments with a reference, newest first, with their exact number. Everything is read
 * consistently, so a payment is found as soon as its create is answered. Throws 422 for a reference of more than a
 * thousand payments.
 */
export const paymentsOfReference = async (
  deps: TableDeps,
  { clientId, reference, status, page }: Asked,
): Promise<PaymentList> => {
  const ids = await idsOfReference(deps, clientId, reference)
  if (ids.length > MOST_OF_REFERENCE) throw tooMany()
  const called = await paymentsCalled(deps, { clientId, reference, ids })
  const all = called.filter((payment) => status === undefined || payment.status === status)
  return { payments: all.slice(firstOfPage(page), firstOfPage(page) + page.perPage), total: all.length }
}

/** The payments of the client with this reference, newest first. A pointer suggests; the payment decides. */
export const paymentsCalled = async (
  deps: TableDeps,
  { clientId, reference, ids }: { clientId: ClientId; reference: string; ids: readonly PaymentId[] },
): Promise<readonly Payment[]> => {
  const payments = await findPaymentsByKey(deps, ids)
  return payments
    .filter((payment) => payment.clientId === clientId && payment.externalReference === reference)
    .toSorted(newestFirst)
}

/** All pointers of a client's reference, of every part; cut off after a thousand. */
export const idsOfReference = async (
  deps: TableDeps,
  clientId: ClientId,
  reference: string,
): Promise<readonly PaymentId[]> => {
  const owners = ownersOf(clientId, await readParts(deps, clientId))
  const pointers = await Promise.all(owners.map((owner) => pointersIn(deps, owner, reference)))
  return pointers.flat().map(({ paymentId }) => v.parse(PaymentIdSchema, paymentId))
}

const pointersIn = async (deps: TableDeps, owner: string, reference: string): Promise<readonly Item[]> => {
  const partition = [referencePk(owner, reference)]
  const found: Item[] = []
  for await (const items of queryPages(deps, { partition, limit: MOST_OF_REFERENCE + 1 })) {
    found.push(...items)
    if (found.length > MOST_OF_REFERENCE) break
  }
  return found
}

const sortKey = ({ createdAt, paymentId }: Payment) => `${createdAt} ${paymentId}`
const newestFirst = (a: Payment, b: Payment): number => (sortKey(a) < sortKey(b) ? 1 : -1)

const tooMany = () =>
  invalid(
    `external_reference: more than ${MOST_OF_REFERENCE} payments have it`,
    { external_reference: ['too many payments'] },
    'List payments without it, or fetch one by its id or idempotency key. Give each order a reference of its own.',
  )
