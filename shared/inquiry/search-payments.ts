import * as v from 'valibot'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { readParts } from '../ledger/window-store.ts'
import { firstOfPage, type Page } from '../page.ts'
import { paymentsAtDestination } from '../payment/destination-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { idsOfReference } from '../payment/reference-store.ts'
import { ownersOf } from '../table/keys.ts'
import { mergedPages, shareOf } from '../table/merged-pages.ts'

/** How far back a search looks for what no pointer leads to, 100 payments at a time. */
const SEARCHED = 5_000
const SEARCH_PAGE = 100

export type PaymentSearch = {
  readonly payments: readonly Payment[]
  /** False when there may be more. */
  readonly complete: boolean
}

type Search = {
  /** Undefined: of every client, by destination. */
  readonly clientId: ClientId | undefined
  readonly reference: string | undefined
  readonly destination: string
  readonly page: Page
}

/** Payments by what a customer or a merchant knows of them, newest first. */
export const searchPayments = (deps: Pick<Deps, 'table'>, search: Search): Promise<PaymentSearch> =>
  search.clientId === undefined
    ? paymentsAtDestination(deps, search.destination, search.page)
    : clientsPayments(deps, search.clientId, search)

/** As many as one reference or destination leads to at most. */
const ALL_POINTERS: Page = { page: 1, perPage: 1_000 }

/** Newest first, as every list is. */
const byAge = (a: Payment, b: Payment): number =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.paymentId < b.paymentId) ? 1 : -1

/**
 * A client's payments with a property, however old: those that pointers lead to; and, of releases without pointers, those
 * among its recent ones. Throws 404 for a client that is not there.
 */
const clientsPayments = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { reference, destination, page }: Search,
): Promise<PaymentSearch> => {
  const isMeant = (payment: Payment) =>
    payment.clientId === clientId &&
    (reference === undefined ? payment.paymentDestination === destination : payment.externalReference === reference)
  await requireClient(deps, clientId)
  const [first, wanted] = [firstOfPage(page), firstOfPage(page) + page.perPage]
  const pointed =
    reference === undefined
      ? (await paymentsAtDestination(deps, destination, ALL_POINTERS)).payments
      : await findPaymentsByKey(deps, await idsOfReference(deps, clientId, reference))
  const found = new Map(pointed.filter(isMeant).map((payment) => [payment.paymentId, payment]))
  const ofPage = () => [...found.values()].toSorted(byAge).slice(first, wanted)
  if (found.size >= wanted) return { payments: ofPage(), complete: false }
  const recent = await recentPayments(deps, clientId, { isMeant, wanted })
  for (const payment of recent.payments) found.set(payment.paymentId, payment)
  return { payments: ofPage(), complete: recent.complete && found.size <= wanted }
}

/** Its newest payments looked through, until so many are found or enough are looked at. */
const recentPayments = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { isMeant, wanted }: { readonly isMeant: (payment: Payment) => boolean; readonly wanted: number },
): Promise<PaymentSearch> => {
  const partitions = ownersOf(clientId, await readParts(deps, clientId)).map((owner) => [owner, 'payment'])
  const limit = shareOf(SEARCH_PAGE, partitions)
  const found: Payment[] = []
  let looked = 0
  let complete = false
  for await (const { items, more } of mergedPages(deps, { index: 'by-owner', partitions, newestFirst: true, limit })) {
    const ids = items.map(({ id }) => v.parse(PaymentIdSchema, id))
    found.push(...(await findPaymentsByKey(deps, ids, 'eventual')).filter(isMeant))
    looked += items.length
    complete = !more && found.length < wanted
    if (found.length >= wanted || looked >= SEARCHED) break
  }
  return { payments: found, complete }
}
