import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { SEARCHED, searchPayments, withSuspense } from '../../shared/inquiry/search-payments.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  'Payments by what is known of them, newest first, with what is in suspense; `complete` says if all were seen.'
const filled = v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty')))
const input = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    external_reference: v.optional(v.string()),
    payment_destination: filled,
    provider_payment_id: filled,
    payment_request_id: filled,
    ...pageFields,
  }),
  v.check(
    (asked) => SEARCHED.filter((name) => asked[name] !== undefined).length === 1,
    `give one of ${SEARCHED.join(', ')}`,
  ),
  v.check(
    ({ client_id, external_reference }) => external_reference === undefined || client_id !== undefined,
    'external_reference needs client_id: each merchant has its own',
  ),
)

export const handler = adminHandler({ summary, input }, async (asked, deps) => {
  const page = pageOf(asked)
  const { payments, complete } = await searchPayments(deps, {
    clientId: asked.client_id === undefined ? undefined : parseClientId(asked.client_id),
    reference: asked.external_reference,
    destination: asked.payment_destination,
    providerPaymentId: asked.provider_payment_id,
    paymentRequestId: asked.payment_request_id,
    page,
  })
  return { data: await withSuspense(deps, payments), pagination: pagination(page), complete }
})
