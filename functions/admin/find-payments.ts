import { parseClientId } from '../../shared/client/client-dto.ts'
import { paymentSearch } from '../../shared/inquiry/payment-search.ts'
import { paymentsOfAmount } from '../../shared/inquiry/payments-of-amount.ts'
import { searchPayments, withSuspense } from '../../shared/inquiry/search-payments.ts'
import { pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  'Finds payments by any known detail, newest first, with their suspense items; `complete` says whether all were read.'
export const handler = adminHandler({ summary, input: paymentSearch }, async (asked, deps) => {
  const clientId = asked.client_id === undefined ? undefined : parseClientId(asked.client_id)
  const { amount_minor: amountMinor, day, status, method, cursor } = asked
  if (clientId !== undefined && amountMinor !== undefined && day !== undefined) {
    const { payments, next } = await paymentsOfAmount(deps, { clientId, amountMinor, day, status, method, cursor })
    return { data: await withSuspense(deps, payments), complete: next === undefined, cursor: next }
  }
  const page = pageOf(asked)
  const { payments, complete } = await searchPayments(deps, {
    clientId,
    reference: asked.external_reference,
    destination: asked.payment_destination,
    providerPaymentId: asked.provider_payment_id,
    paymentRequestId: asked.payment_request_id,
    page,
  })
  return { data: await withSuspense(deps, payments), pagination: pagination(page), complete }
})
