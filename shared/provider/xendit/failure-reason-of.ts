import type { FailureReason } from '../../payment-status.ts'

/** The customer could not pay, or declined. */
const DECLINED = [
  'ACCOUNT_ACCESS_BLOCKED',
  'ACCOUNT_NOT_ACTIVATED',
  'EXPIRED_OTP',
  'INSUFFICIENT_BALANCE',
  'INVALID_ACCOUNT_DETAILS',
  'INVALID_OTP',
  'OTP_ATTEMPT_COUNTS_EXCEEDED',
  'PAYMENT_AMOUNT_LIMITS_EXCEEDED',
  'PAYMENT_ATTEMPT_COUNTS_EXCEEDED',
  'USER_DECLINED_PAYMENT',
  'USER_DEVICE_UNREACHABLE',
  'USER_DID_NOT_AUTHORIZE',
] as const

/** The channel failed. */
const UNAVAILABLE = ['CHANNEL_UNAVAILABLE', 'PARTNER_TIMEOUT_ERROR', 'SERVER_ERROR', 'TIMEOUT_ERROR'] as const

const FAILURE_REASON: ReadonlyMap<string, FailureReason> = new Map([
  ...DECLINED.map((code) => [code, 'declined'] as const),
  ...UNAVAILABLE.map((code) => [code, 'channel_unavailable'] as const),
])

/** Maps the provider's failure code to our reason; `other` for an unknown code. */
export const failureReasonOf = (code: string | undefined): FailureReason => FAILURE_REASON.get(code ?? '') ?? 'other'
