import { paymentSearch, paymentsOfAmount, searchPayments, withSuspense } from '../../shared/inquiry/search-payments.ts'
import { pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  'Finds payments by any known detail, newest first, with their suspense items; `complete` says whether all were read.'
export const handler = adminHandler({ summary, input: paymentSearch }, async (asked, deps) => {
  const { clientId, amountMinor, day, status, method, cursor } = asked
  if (clientId !== undefined && amountMinor !== undefined && day !== undefined) {
    const { payments, next } = await paymentsOfAmount(deps, { clientId, amountMinor, day, status, method, cursor })
    const { data, complete } = await withSuspense(deps, payments)
    return { data, complete: complete && next === undefined, cursor: next }
  }
  const found = await searchPayments(deps, asked)
  const { data, complete } = await withSuspense(deps, found.payments)
  return { data, pagination: pagination(asked), complete: complete && found.complete }
})
