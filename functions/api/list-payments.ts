import { NEVER_EMPTY, paymentsQuery } from '../../shared/inquiry/payments-query.ts'
import { pageOf, pagination } from '../../shared/page.ts'
import {
  listPayments,
  paymentsOfKey,
  paymentsOfReference,
} from '../../shared/payment/list-payments.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

/**
 * GET /v1/payments (spec 4.2; by `idempotency_key` and by `external_reference`: design section 8).
 */
export const handler = apiHandler(
  { query: paymentsQuery, neverEmpty: NEVER_EMPTY, mostUnits: 600 },
  async ({ clientId, query }, deps) => {
    const { idempotency_key: key, external_reference: reference, status } = query
    const page = pageOf(query)
    const { payments, total } = await (key !== undefined
      ? paymentsOfKey(deps, { clientId, key, page })
      : reference !== undefined
        ? paymentsOfReference(deps, { clientId, reference, status, page })
        : listPayments(deps, { clientId, status, page }))
    const totals = { total, total_pages: Math.ceil(total / page.perPage) }
    return ok({ data: payments.map(toPaymentDto), pagination: { ...pagination(page), ...totals } })
  },
)
