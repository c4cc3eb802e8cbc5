import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { searchPayments } from '../../shared/inquiry/search-payments.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  "Payments with a destination, whoever's they are, or a merchant's with a reference or a destination, newest " +
  'first; `complete` says if all were seen.'
const input = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    external_reference: v.optional(v.string()),
    payment_destination: v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty'))),
    ...pageFields,
  }),
  v.check(
    ({ external_reference: reference, payment_destination: destination }) =>
      (reference === undefined) !== (destination === undefined),
    'give one of external_reference and payment_destination',
  ),
  v.check(
    ({ client_id, external_reference }) => external_reference === undefined || client_id !== undefined,
    'external_reference needs client_id: each merchant has its own',
  ),
)

export const handler = adminHandler({ summary, input }, async (search, deps) => {
  const page = pageOf(search)
  const { payments, complete } = await searchPayments(deps, {
    clientId: search.client_id === undefined ? undefined : parseClientId(search.client_id),
    reference: search.external_reference,
    destination: search.payment_destination ?? '',
    page,
  })
  return { data: payments.map(toPaymentDto), pagination: pagination(page), complete }
})
