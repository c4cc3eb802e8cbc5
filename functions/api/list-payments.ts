import * as v from 'valibot'
import { pageOf, pageParams, paginationWithTotal } from '../../shared/page.ts'
import { MAX_KEY_LENGTH } from '../../shared/payment/create/parse-payment-request.ts'
import { listPayments, paymentsOfKey } from '../../shared/payment/list-payments.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { PAYMENT_STATUSES } from '../../shared/payment-status.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

const ALONE = 'idempotency_key stands alone: there is one payment at most'

const query = v.pipe(
  v.object({
    ...pageParams,
    status: v.optional(v.picklist(PAYMENT_STATUSES, `status must be one of ${PAYMENT_STATUSES.join(', ')}`)),
    idempotency_key: v.optional(
      v.pipe(
        v.string(),
        v.minLength(1, 'idempotency_key must not be empty'),
        v.maxLength(MAX_KEY_LENGTH, `idempotency_key must have at most ${MAX_KEY_LENGTH} characters`),
      ),
    ),
  }),
  v.forward(
    v.check(({ idempotency_key: key, status }) => key === undefined || status === undefined, ALONE),
    ['idempotency_key'],
  ),
)

/** GET /v1/payments (spec 4.2; by `idempotency_key`: design section 8). */
export const handler = apiHandler(
  { query, neverEmpty: ['idempotency_key'] },
  async ({ clientId, query: asked }, deps) => {
    const { idempotency_key: key, status } = asked
    const page = pageOf(asked)
    const { payments, total } = await (key === undefined
      ? listPayments(deps, { clientId, status, page })
      : paymentsOfKey(deps, { clientId, key, page }))
    return ok({ data: payments.map(toPaymentDto), pagination: paginationWithTotal(page, total) })
  },
)
