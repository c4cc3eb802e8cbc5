import * as v from 'valibot'
import { paymentTimeline } from '../../shared/inquiry/payment-timeline.ts'
import { refreshPayment } from '../../shared/payment/news/refresh-payment.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { handOverOwnRow } from '../../shared/sync/hand-over-own-row.ts'

const input = v.strictObject({ operator: OPERATOR, payment_id: v.string() })

export const handler = adminHandler(
  {
    summary:
      'Asks the provider for a payment now, applies the answer, and shows the payment. Safe to ' +
      'repeat.',
    input,
  },
  async (deps, { paymentId, operator }) => {
    const payment = await refreshPayment(deps, paymentId, operator)
    await handOverOwnRow(deps, payment)
    return paymentTimeline(deps, payment)
  },
)
