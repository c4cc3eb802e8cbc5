import type { FailureReason } from '../../payment-status.ts'

/** What the customer could not do, or would not. */
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

/** What the channel could not do. */
const UNAVAILABLE = ['CHANNEL_UNAVAILABLE', 'PARTNER_TIMEOUT_ERROR', 'SERVER_ERROR', 'TIMEOUT_ERROR'] as const

const FAILURE_REASON: ReadonlyMap<string, FailureReason> = new Map([
  ...DECLINED.map((code) => [code, 'declined'] as const),
  ...UNAVAILABLE.map((code) => [code, 'channel_unavailable'] as const),
])

/** Why a request failed, by the provider's code of it; `other` for one that we do not know. */
export const failureReasonOf = (code: string | undefined): FailureReason => FAILURE_REASON.get(code ?? '') ?? 'other'
