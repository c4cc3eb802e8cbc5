import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { MOST_AT_DESTINATION, paymentsAtDestination } from '../payment/destination-store.ts'
import type { Payment } from '../payment/payment.ts'
import { idsOfReference, MOST_OF_REFERENCE, paymentsCalled } from '../payment/reference-store.ts'

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

/**
 * Payments by what a customer or a merchant knows of them, however old, newest first. Throws 404 for a client that is not
 * there.
 */
export const searchPayments = async (deps: Pick<Deps, 'table'>, search: Search): Promise<PaymentSearch> => {
  const { clientId, reference, destination, page } = search
  if (clientId === undefined) return paymentsAtDestination(deps, destination, page)
  await requireClient(deps, clientId)
  return reference === undefined
    ? ownAtDestination(deps, clientId, search)
    : ownOfReference(deps, clientId, reference, page)
}

const ofPage = <One>(all: readonly One[], page: Page): readonly One[] =>
  all.slice(firstOfPage(page), firstOfPage(page) + page.perPage)

const isLast = (all: readonly unknown[], page: Page): boolean => all.length <= firstOfPage(page) + page.perPage

/** Other clients' payments may have had the same destination. */
const ownAtDestination = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { destination, page }: Search,
): Promise<PaymentSearch> => {
  const found = await paymentsAtDestination(deps, destination, { page: 1, perPage: MOST_AT_DESTINATION })
  const own = found.payments.filter((payment) => payment.clientId === clientId)
  return { payments: ofPage(own, page), complete: found.complete && isLast(own, page) }
}

const ownOfReference = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  reference: string,
  page: Page,
): Promise<PaymentSearch> => {
  const ids = await idsOfReference(deps, clientId, reference)
  const payments = await paymentsCalled(deps, { clientId, reference, ids: ids.slice(0, MOST_OF_REFERENCE) })
  return { payments: ofPage(payments, page), complete: ids.length <= MOST_OF_REFERENCE && isLast(payments, page) }
}
