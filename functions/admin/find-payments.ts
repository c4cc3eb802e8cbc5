import { paymentSearch, paymentsOfAmount, searchPayments, withSuspense } from '../../shared/inquiry/search-payments.ts'
import { pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  'Finds payments by any known detail, newest first, with their suspense items; `complete` says whether all were read.'
export const handler = adminHandler({ summary, input: paymentSearch }, async (asked, deps) => {
  const { clientId, amountMinor, day, status, method, cursor } = asked
  if (clientId !== undefined && amountMinor !== undefined && day !== undefined) {
    const { payments, next } = await paymentsOfAmount(deps, { clientId, amountMinor, day, status, method, cursor })
    return { data: await withSuspense(deps, payments), complete: next === undefined, cursor: next }
  }
  const { payments, complete } = await searchPayments(deps, asked)
  return { data: await withSuspense(deps, payments), pagination: pagination(asked), complete }
})
