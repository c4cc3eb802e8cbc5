import * as v from 'valibot'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema, paymentIdOf } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { idsOfReference, MOST_OF_REFERENCE, paymentsCalled } from '../payment/list-payments.ts'
import type { Payment } from '../payment/payment.ts'
import { toPaymentDto } from '../payment/payment-dto.ts'
import { findPaymentsByKey, findStoredPayment } from '../payment/payment-store.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'
import { providerFailure } from '../provider/provider-failure.ts'
import { toSuspenseDto } from '../suspense/suspense-dto.ts'
import { suspenseAbout } from '../suspense/suspense-store.ts'
import { destinationKey, destinationPk } from '../table/keys.ts'

type PaymentSearch = {
  readonly payments: readonly Payment[]
  /** False if there may be more payments. */
  readonly complete: boolean
}

/** The search criteria; a search uses one of them. */
export const SEARCHED = [
  'external_reference',
  'payment_destination',
  'provider_payment_id',
  'payment_request_id',
] as const

type Search = {
  /** Undefined: all clients. */
  readonly clientId: ClientId | undefined
  readonly reference: string | undefined
  readonly destination: string | undefined
  /** The provider's own ids: the provider is asked for their reference. */
  readonly providerPaymentId?: string | undefined
  readonly paymentRequestId?: string | undefined
  readonly page: Page
}

/**
 * Finds payments of any age by a value that the customer or merchant knows, newest first. Throws 404 for an unknown
 * client and 502 if the provider is needed and does not answer.
 */
export const searchPayments = async (
  deps: Pick<Deps, 'table' | 'provider'>,
  search: Search,
): Promise<PaymentSearch> => {
  const { clientId, reference, providerPaymentId, paymentRequestId, page } = search
  const destination = asAccountNumber(search.destination ?? '')
  if (clientId !== undefined) await requireClient(deps, clientId)
  if (providerPaymentId !== undefined || paymentRequestId !== undefined) return byProviderId(deps, search)
  if (clientId === undefined) return paymentsAtDestination(deps, destination, page)
  return reference === undefined
    ? ownAtDestination(deps, clientId, destination, page)
    : ownOfReference(deps, clientId, reference, page)
}

/** Removes spaces and dashes, because people write account numbers in groups. */
const asAccountNumber = (text: string): string => (/^[\d\s-]+$/.test(text) ? text.replace(/[\s-]/g, '') : text)

/** The reference of a provider id; empty if unknown. Throws 502 if the provider does not answer. */
const providerReference = async (
  { provider }: Pick<Deps, 'provider'>,
  { providerPaymentId = '', paymentRequestId }: Search,
): Promise<string> => {
  const answer =
    paymentRequestId === undefined
      ? await provider.getPayment(providerPaymentId, PROVIDER_READ_TIMEOUT_MS)
      : await provider.getRequest(paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  if (answer.kind === 'unanswered') throw providerFailure(answer, `nothing was found (${answer.reason})`)
  return answer.kind === 'found' ? answer.value.reference : ''
}

const byProviderId = async (deps: Pick<Deps, 'table' | 'provider'>, search: Search): Promise<PaymentSearch> => {
  const paymentId = paymentIdOf(await providerReference(deps, search))
  const payment = paymentId && (await findStoredPayment(deps, paymentId))
  const matches = payment && payment.status !== 'creating' && payment.clientId === (search.clientId ?? payment.clientId)
  return { payments: matches ? ofPage([payment], search.page) : [], complete: true }
}

/** The first attempt, because the provider may receive money before it answers the create. */
const begunAt = ({ providerAttempts: [first], createdAt }: Payment) => first?.startedAt ?? createdAt

/** The payments for operators, each with its suspense items. */
export const withSuspense = async (deps: Pick<Deps, 'table'>, payments: readonly Payment[]) => {
  const since = payments.map(begunAt).toSorted()[0]
  if (since === undefined) return []
  const paymentIds: readonly string[] = payments.map(({ paymentId }) => paymentId)
  const { items } = await suspenseAbout(deps, { paymentIds, since })
  return payments.map((payment) => {
    const own = items.filter(({ paymentId }) => paymentId === payment.paymentId)
    return { ...toPaymentDto(payment), ...(own.length > 0 && { suspense: own.map(toSuspenseDto) }) }
  })
}

const ofPage = <One>(all: readonly One[], page: Page): readonly One[] =>
  all.slice(firstOfPage(page), firstOfPage(page) + page.perPage)

const isLast = (all: readonly unknown[], page: Page): boolean => all.length <= firstOfPage(page) + page.perPage

/** Filters by client, because other clients' payments may have the same destination. */
const ownAtDestination = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  destination: string,
  page: Page,
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

/** The most payments of one number that are read. The provider reuses numbers, but not often. */
const MOST_AT_DESTINATION = 1_000

/** Payments of all clients that showed a destination, newest first. `complete`: there are no more. */
const paymentsAtDestination = async (
  deps: Pick<Deps, 'table'>,
  destination: string,
  page: Page,
): Promise<{ readonly payments: readonly Payment[]; readonly complete: boolean }> => {
  const first = firstOfPage(page)
  if (first >= MOST_AT_DESTINATION) return { payments: [], complete: false }
  const { items, cursor } = await deps.table.query({
    partition: [destinationPk(destination)],
    newestFirst: true,
    limit: Math.min(first + page.perPage, MOST_AT_DESTINATION),
  })
  const pointers = items.slice(first)
  const ids = pointers.map(({ paymentId }) => v.parse(PaymentIdSchema, paymentId))
  const pointed = new Set(pointers.map(({ sk }) => sk))
  const payments = await findPaymentsByKey(deps, [...new Set(ids)])
  return {
    payments: payments.filter(
      ({ paymentDestination, createdAt, paymentId }) =>
        paymentDestination === destination && pointed.has(destinationKey(destination, createdAt, paymentId).sk),
    ),
    complete: cursor === undefined,
  }
}
