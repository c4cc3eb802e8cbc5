import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { destinationKey, destinationPk } from '../table/keys.ts'
import { put, type Step } from '../table/step.ts'
import type { Payment } from './payment.ts'
import { findPaymentsByKey } from './payment-store.ts'

/**
 * What leads from a destination to its payment, whoever's it is: written once, by the transaction that makes the
 * destination visible. Undefined for a push, which shows none.
 */
export const pointFromDestination = ({ paymentDestination, createdAt, paymentId }: Payment): Step | undefined =>
  paymentDestination === '' ? undefined : put(destinationKey(paymentDestination, createdAt, paymentId), { paymentId })

/** How many payments of one destination are looked through: a number is given out again, but not as often. */
export const MOST_AT_DESTINATION = 1_000

/** The payments that showed a destination, of every client, newest first; `complete` says if there are no more. */
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
  const ids = items.slice(first).map(({ paymentId }) => v.parse(PaymentIdSchema, paymentId))
  const payments = await findPaymentsByKey(deps, ids)
  return {
    payments: payments.filter(({ paymentDestination }) => paymentDestination === destination),
    complete: cursor === undefined,
  }
}
