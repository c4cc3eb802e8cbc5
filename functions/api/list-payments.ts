import * as v from 'valibot'
import { pageOf, pageParams, paginationWithTotal } from '../../shared/page.ts'
import { listPayments } from '../../shared/payment/list-payments.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { PAYMENT_STATUSES } from '../../shared/payment-status.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

const query = v.object({
  ...pageParams,
  status: v.optional(v.picklist(PAYMENT_STATUSES, `status must be one of ${PAYMENT_STATUSES.join(', ')}`)),
})

/** GET /v1/payments (spec 4.2). */
export const handler = apiHandler({ query }, async ({ clientId, query: params }, deps) => {
  const page = pageOf(params)
  const { payments, total } = await listPayments(deps, { clientId, status: params.status, page })
  return ok({ data: payments.map(toPaymentDto), pagination: paginationWithTotal(page, total) })
})
