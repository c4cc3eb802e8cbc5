import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { searchPayments } from '../../shared/payment/search-payments.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.pipe(
  v.strictObject({
    client_id: v.string(),
    external_reference: v.optional(v.string()),
    payment_destination: v.optional(v.string()),
    ...pageFields,
  }),
  v.check(
    ({ external_reference: reference, payment_destination: destination }) =>
      (reference === undefined) !== (destination === undefined),
    'give one of external_reference and payment_destination',
  ),
)

/** A merchant's recent payments with a reference or a destination, newest first; `complete` says if all were seen. */
export const handler = adminHandler(input, async (search, deps) => {
  const page = pageOf(search)
  const { payments, complete } = await searchPayments(deps, {
    clientId: parseClientId(search.client_id),
    matches: (payment) =>
      search.external_reference === undefined
        ? payment.paymentDestination === search.payment_destination
        : payment.externalReference === search.external_reference,
    page,
  })
  return { data: payments.map(toPaymentDto), pagination: pagination(page), complete }
})
