import * as v from 'valibot'
import { ifValid } from '../../if-valid.ts'
import { type Minor, minor, ZERO } from '../../money.ts'
import type { FailureReason } from '../../payment-status.ts'
import { parseForeignTime, TimestampSchema } from '../../time.ts'
import type { ProviderBalance, ProviderPayment, ProviderRequest } from '../provider.ts'
import { destinationOf } from './xendit-channels.ts'

/** The provider's objects (payments API v3) that we read. Undocumented states are `unknown`. */

/** An id that is safe in a URL path. */
export const ProviderIdSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/))

/** Of the ids of requests and payments. The provider refuses every other length. */
export const ID_LENGTH = 39

export function isProviderId(text: string): boolean {
  return v.is(ProviderIdSchema, text)
}

export const ReferenceSchema = v.pipe(v.string(), v.maxLength(255))

const MAX_AMOUNT = 1e13
const MAX_CAPTURES = 100

// The provider's examples show numbers as text; real answers contain numbers.
export const SignedAmount = v.pipe(
  v.union([
    v.number(),
    v.pipe(v.string(), v.regex(/^-?\d{1,14}(\.\d{1,20})?$/), v.transform(Number)),
  ]),
  v.minValue(-MAX_AMOUNT),
  v.maxValue(MAX_AMOUNT),
)

export const Amount = v.pipe(SignedAmount, v.minValue(0))

/** Rounded down: an unexpected fraction of a rupiah is not credited. */
export function receivedMinor(amount: number): Minor {
  return minor(Math.floor(amount))
}

/** The provider's times are UTC, also without a zone. */
export const Time = v.pipe(
  v.string(),
  v.transform((text) => (/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)),
  v.transform((text): string => parseForeignTime(text) ?? ''),
  TimestampSchema,
)

/** A value of another form counts as absent; the other fields stay valid. */
export function lenient<const Schema extends v.GenericSchema>(schema: Schema) {
  return v.fallback(v.optional(schema), undefined)
}

export const OptionalText = lenient(v.string())

const REQUEST_STATUS: ReadonlyMap<string, ProviderRequest['status']> = new Map([
  ['REQUIRES_ACTION', 'open'],
  ['ACCEPTING_PAYMENTS', 'open'],
  ['AUTHORIZED', 'open'],
  ['PENDING', 'open'],
  ['SUCCEEDED', 'succeeded'],
  ['FAILED', 'failed'],
  ['EXPIRED', 'expired'],
  ['CANCELED', 'cancelled'],
])

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

const UNAVAILABLE = [
  'CHANNEL_UNAVAILABLE',
  'PARTNER_TIMEOUT_ERROR',
  'SERVER_ERROR',
  'TIMEOUT_ERROR',
] as const

const FAILURE_REASON: ReadonlyMap<string, FailureReason> = new Map([
  ...DECLINED.map((code) => [code, 'declined'] as const),
  ...UNAVAILABLE.map((code) => [code, 'channel_unavailable'] as const),
])

export const RequestSchema = v.pipe(
  v.object({
    payment_request_id: v.nullish(ProviderIdSchema),
    // The provider's documents use both names.
    id: lenient(ProviderIdSchema),
    reference_id: ReferenceSchema,
    status: v.string(),
    failure_code: OptionalText,
    latest_payment_id: v.nullish(v.union([v.literal(''), ProviderIdSchema])),
    channel_code: v.string(),
    actions: v.nullish(
      v.array(v.fallback(v.object({ descriptor: OptionalText, value: OptionalText }), {})),
      [],
    ),
  }),
  v.transform(
    (answer): ProviderRequest => ({
      paymentRequestId: answer.payment_request_id ?? answer.id ?? '',
      reference: answer.reference_id,
      status: REQUEST_STATUS.get(answer.status) ?? 'unknown',
      failureReason: FAILURE_REASON.get(answer.failure_code ?? ''),
      latestPaymentId: answer.latest_payment_id || undefined,
      destination: destinationOf(answer.channel_code, answer.actions),
    }),
  ),
  v.check(({ paymentRequestId }) => isProviderId(paymentRequestId)),
)

/** What a create answer repeats of the request, to compare the two. */
export const RequestEchoSchema = v.object({
  reference_id: v.string(),
  request_amount: Amount,
  currency: v.nullish(v.string(), 'IDR'),
  channel_code: v.string(),
})

const PAYMENT_STATUS: ReadonlyMap<string, ProviderPayment['status']> = new Map([
  ['PENDING', 'open'],
  ['AUTHORIZED', 'open'],
  ['SUCCEEDED', 'succeeded'],
  ['FAILED', 'failed'],
  ['CANCELED', 'failed'],
  ['EXPIRED', 'failed'],
])

export const PaymentSchema = v.pipe(
  v.object({
    payment_id: ProviderIdSchema,
    payment_request_id: ProviderIdSchema,
    reference_id: ReferenceSchema,
    currency: v.string(),
    status: v.string(),
    failure_code: OptionalText,
    captures: v.nullish(
      v.pipe(
        v.array(v.object({ capture_amount: Amount, capture_timestamp: lenient(Time) })),
        v.maxLength(MAX_CAPTURES),
      ),
      [],
    ),
  }),
  v.transform((answer): ProviderPayment => {
    const { captures } = answer
    // Only captures prove received money; the status does not.
    const isCaptured = answer.status === 'SUCCEEDED' && captures.length > 0
    const sum = captures.reduce((total, { capture_amount: amount }) => total + amount, 0)
    return {
      providerPaymentId: answer.payment_id,
      paymentRequestId: answer.payment_request_id,
      reference: answer.reference_id,
      currency: answer.currency,
      status: isCaptured ? 'captured' : (PAYMENT_STATUS.get(answer.status) ?? 'unknown'),
      failureReason: FAILURE_REASON.get(answer.failure_code ?? ''),
      capturedMinor: isCaptured ? receivedMinor(sum) : ZERO,
      capturedAt: captures[0]?.capture_timestamp,
    }
  }),
)

/** The account that holds the money of payments until it is withdrawn. */
export const CASH_ACCOUNT = 'CASH'

/** Rounded down. Large chargebacks can make it negative. */
export const BalanceSchema = v.pipe(
  v.object({ balance: SignedAmount }),
  v.transform(
    ({ balance }): ProviderBalance => ({
      account: CASH_ACCOUNT,
      amountMinor: minor(Math.floor(balance)),
    }),
  ),
)

const ErrorSchema = v.object({ error_code: v.pipe(v.string(), v.regex(/^[A-Z0-9_]{1,64}$/)) })

/**
 * Safe to show and to log. The provider gives every refusal a code; an answer without a code comes
 * from a proxy.
 */
export function errorCodeOf(json: unknown): string | undefined {
  return ifValid(ErrorSchema, json)?.error_code
}
