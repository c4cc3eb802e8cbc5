import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { listItems } from '../table/list.ts'
import { type Payment, PaymentSchema } from './payment.ts'

/** How far back a search looks: 5,000 payments, 100 at a time. */
const SEARCH_PAGES = 50
const SEARCH_PAGE = 100

export type PaymentSearch = {
  readonly payments: readonly Payment[]
  /** False when older payments were not looked at. */
  readonly complete: boolean
}

/**
 * A client's recent payments with a property, newest first: a bounded search for the question "what became of order
 * X", which needs no index of its own.
 */
export const searchPayments = async (
  deps: Pick<Deps, 'table' | 'sleep' | 'random'>,
  input: { readonly clientId: ClientId; readonly matches: (payment: Payment) => boolean; readonly page: Page },
): Promise<PaymentSearch> => {
  const wanted = firstOfPage(input.page) + input.page.perPage
  const found: Payment[] = []
  let complete = false
  for (let page = 1; page <= SEARCH_PAGES && found.length < wanted && !complete; page++) {
    const items = await listItems(deps, {
      kind: 'PAYMENT',
      index: 'by-owner',
      partition: [input.clientId, 'payment'],
      page: { page, perPage: SEARCH_PAGE },
    })
    found.push(...items.map((item) => v.parse(PaymentSchema, item)).filter(input.matches))
    complete = items.length === 0
  }
  return { payments: found.slice(firstOfPage(input.page), wanted), complete }
}
