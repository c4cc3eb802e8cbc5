import * as v from 'valibot'
import { paymentTimeline } from '../../shared/inquiry/payment-timeline.ts'
import { refreshPayment } from '../../shared/payment/news/refresh-payment.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

/** Asks the provider about a payment now, applies what it says, and answers the payment. Safe to repeat. */
export const handler = adminHandler(
  v.strictObject({ operator: v.optional(OPERATOR), payment_id: v.string() }),
  async (input, deps) => paymentTimeline(deps, await refreshPayment(deps, input.payment_id, input.operator)),
)
