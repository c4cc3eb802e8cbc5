import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { destinationKey, destinationPk } from '../table/keys.ts'
import type { Payment } from './payment.ts'
import { findPaymentsByKey } from './payment-store.ts'

/** The most payments of one number that are read. The provider reuses numbers, but not often. */
export const MOST_AT_DESTINATION = 1_000

/** Payments of all clients that showed a destination, newest first. `complete`: there are no more. */
export const paymentsAtDestination = async (
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
