import * as v from 'valibot'
import { paymentTimeline } from '../../shared/inquiry/payment-timeline.ts'
import { findAnyPayment } from '../../shared/payment/find-payment.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

/** One payment with its whole story: provider attempts, transitions, events, deliveries and their attempts. */
export const handler = adminHandler(v.strictObject({ payment_id: v.string() }), async (input, deps) =>
  paymentTimeline(deps, await findAnyPayment(deps, input.payment_id)),
)
