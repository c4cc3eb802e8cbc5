/** The statuses a client can see (spec 3.1). */
export const PAYMENT_STATUSES = ['pending', 'succeeded', 'failed', 'expired', 'cancelled'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** Why a payment failed, in words of ours (design section 4). The provider's own codes change without notice. */
export const FAILURE_REASONS = [
  'wrong_amount',
  'declined',
  'channel_unavailable',
  'cancelled_upstream',
  'other',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]
