import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { readParts } from '../ledger/window-store.ts'
import { firstOfPage, type Page } from '../page.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { ownersOf, referencePk } from '../table/keys.ts'
import { queryPages } from '../table/merged-pages.ts'
import type { PaymentList } from './list-payments.ts'
import type { Payment } from './payment.ts'
import { findPaymentsByKey } from './payment-store.ts'

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
