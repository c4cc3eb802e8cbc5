import * as v from 'valibot'
import { paymentTimeline } from '../../shared/inquiry/payment-timeline.ts'
import { findAnyPayment } from '../../shared/payment/payment-store.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({ payment_id: v.string() })

export const handler = adminHandler(
  {
    summary:
      'One payment with its timeline: provider attempts, transitions, events, deliveries and ' +
      'their attempts, settlements, suspense. `suspense_complete` is false if not all was read.',
    input,
  },
  async (deps, { paymentId }) => paymentTimeline(deps, await findAnyPayment(deps, paymentId)),
)
