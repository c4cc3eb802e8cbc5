/** The statuses a client can see (spec 3.1). */
export const PAYMENT_STATUSES = ['pending', 'succeeded', 'failed', 'expired', 'cancelled'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** Our own terms (design section 4), because the provider's codes change without notice. */
export const FAILURE_REASONS = [
  'wrong_amount',
  'declined',
  'channel_unavailable',
  'cancelled_upstream',
  'other',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** How a customer pays (spec 2.1). */
export const PAYMENT_METHODS = ['virtual_account', 'ewallet', 'qris'] as const
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]

export function isPaymentMethod(text: string | undefined): text is PaymentMethod {
  return PAYMENT_METHODS.some((method) => method === text)
}
