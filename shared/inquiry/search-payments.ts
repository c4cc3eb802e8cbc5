import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { paymentsAtDestination } from '../payment/destination-store.ts'
import { type Payment, PaymentSchema } from '../payment/payment.ts'
import { listItems } from '../table/list-items.ts'

/** How far back a search looks: 5,000 payments, 100 at a time. */
const SEARCH_PAGES = 50
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
  const found: Payment[] = []
  let complete = false
  for (let page = 1; page <= SEARCH_PAGES && found.length < wanted && !complete; page++) {
    const items = await listItems(deps, {
      kind: 'PAYMENT',
      index: 'by-owner',
      partition: [clientId, 'payment'],
      page: { page, perPage: SEARCH_PAGE },
      reads: 'eventual',
    })
    found.push(...items.map((item) => v.parse(PaymentSchema, item)).filter(matches))
    complete = items.length === 0
  }
  return { payments: found.slice(firstOfPage(asked), wanted), complete }
}
