import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { readParts } from '../ledger/ledger-store.ts'
import { firstOfPage, type Page } from '../page.ts'
import { paymentsAtDestination } from '../payment/destination-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { ownersOf } from '../table/keys.ts'
import { mergedPages, shareOf } from '../table/merged-pages.ts'

/** How far back a search looks, 100 payments at a time. */
const SEARCHED = 5_000
const SEARCH_PAGE = 100

export type PaymentSearch = {
  readonly payments: readonly Payment[]
  /** False when older payments were not looked at. */
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
    : recentPayments(deps, search.clientId, search)

/**
 * A client's recent payments with a property: a bounded search for the question "what became of order X", which needs
 * no index of its own.
 */
const recentPayments = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { reference, destination, page: asked }: Search,
): Promise<PaymentSearch> => {
  const matches = (payment: Payment) =>
    reference === undefined ? payment.paymentDestination === destination : payment.externalReference === reference
  const wanted = firstOfPage(asked) + asked.perPage
  const partitions = ownersOf(clientId, await readParts(deps, clientId)).map((owner) => [owner, 'payment'])
  const limit = shareOf(SEARCH_PAGE, partitions)
  const found: Payment[] = []
  let looked = 0
  let complete = false
  for await (const { items, more } of mergedPages(deps, { index: 'by-owner', partitions, newestFirst: true, limit })) {
    const ids = items.map(({ id }) => v.parse(PaymentIdSchema, id))
    found.push(...(await findPaymentsByKey(deps, ids, 'eventual')).filter(matches))
    looked += items.length
    complete = !more && found.length < wanted
    if (found.length >= wanted || looked >= SEARCHED) break
  }
  return { payments: found.slice(firstOfPage(asked), wanted), complete }
}
