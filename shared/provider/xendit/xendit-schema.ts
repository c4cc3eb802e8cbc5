import * as v from 'valibot'
import { type Minor, minor, ZERO } from '../../money.ts'
import { earlier, parseForeignTime, TimestampSchema } from '../../time.ts'
import type { ProviderPayment, ProviderRequest, ProviderTransaction, TransactionPage } from '../provider.ts'
import { failureReasonOf } from './failure-reason-of.ts'
import {
  CHARGEBACK_TYPES,
  FEE_NOT_FINAL,
  RETURNS,
  SETTLED,
  TRANSACTION_STATUS,
  TRANSACTION_TYPE,
  WITHDRAWAL_TYPES,
} from './transaction-words.ts'
import { destinationOf } from './xendit-channels.ts'

/**
 * The provider's objects (payments API v3) that the gateway reads. Unknown fields are ignored; unknown states count as
 * not final.
 */

const PROVIDER_ID = /^[A-Za-z0-9_-]{1,64}$/

/** Whether an id is safe in a URL path. */
export const isProviderId = (text: string): boolean => PROVIDER_ID.test(text)
export const ProviderIdSchema = v.pipe(v.string(), v.regex(PROVIDER_ID))

export const ReferenceSchema = v.pipe(v.string(), v.maxLength(255))

const MAX_AMOUNT = 1e13
const MAX_CAPTURES = 100

// The provider's examples show numbers as text; real answers contain numbers.
const SignedAmount = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^-?\d{1,14}(\.\d{1,6})?$/), v.transform(Number))]),
  v.minValue(-MAX_AMOUNT),
  v.maxValue(MAX_AMOUNT),
)

const Amount = v.pipe(SignedAmount, v.minValue(0))

/** Rounded down: an unexpected fraction of a rupiah is not credited. */
const receivedMinor = (amount: number): Minor => minor(Math.floor(amount))

/** Rounded up, so that we never credit more than we received. */
const keptOf = (amount: number, net: number): Minor => minor(Math.ceil(amount - net))

// The provider's times are UTC, also without a zone.
const utc = (text: string) => (/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)

const Time = v.pipe(
  v.string(),
  v.transform((text): string => parseForeignTime(utc(text)) ?? ''),
  TimestampSchema,
)

/** Optional text: a value of another type counts as absent. */
const OptionalText = v.fallback(v.optional(v.string()), undefined)

const REQUEST_STATUS: ReadonlyMap<string, ProviderRequest['status']> = new Map([
  ['SUCCEEDED', 'succeeded'],
  ['FAILED', 'failed'],
  ['EXPIRED', 'expired'],
  ['CANCELED', 'cancelled'],
])

export const RequestSchema = v.pipe(
  v.object({
    payment_request_id: v.optional(ProviderIdSchema),
    // The provider's documents use both names.
    id: v.fallback(v.optional(ProviderIdSchema), undefined),
    reference_id: ReferenceSchema,
    status: v.string(),
    failure_code: OptionalText,
    latest_payment_id: v.nullish(v.union([v.literal(''), ProviderIdSchema])),
    channel_code: v.string(),
    actions: v.nullish(v.array(v.object({ descriptor: OptionalText, value: OptionalText })), []),
  }),
  v.transform(
    (answer): ProviderRequest => ({
      paymentRequestId: answer.payment_request_id ?? answer.id ?? '',
      reference: answer.reference_id,
      status: REQUEST_STATUS.get(answer.status) ?? 'open',
      ...(answer.status === 'FAILED' && { failureReason: failureReasonOf(answer.failure_code) }),
      latestPaymentId: answer.latest_payment_id || undefined,
      destination: destinationOf(answer.channel_code, answer.actions ?? []),
    }),
  ),
  v.check(({ paymentRequestId }) => isProviderId(paymentRequestId)),
)

/** The reference and amount of a create answer, to compare with the request. */
export const RequestEchoSchema = v.object({ reference_id: v.string(), request_amount: Amount })

const NO_MONEY = new Set(['FAILED', 'CANCELED', 'EXPIRED'])

export const PaymentSchema = v.pipe(
  v.object({
    payment_id: ProviderIdSchema,
    payment_request_id: ProviderIdSchema,
    reference_id: ReferenceSchema,
    currency: v.string(),
    status: v.string(),
    captures: v.nullish(v.pipe(v.array(v.object({ capture_amount: Amount })), v.maxLength(MAX_CAPTURES)), []),
  }),
  v.transform((answer): ProviderPayment => {
    const captures = answer.captures ?? []
    // Only captures prove received money; the status does not.
    const captured = answer.status === 'SUCCEEDED' && captures.length > 0
    const sum = captures.reduce((total, { capture_amount: amount }) => total + amount, 0)
    return {
      providerPaymentId: answer.payment_id,
      paymentRequestId: answer.payment_request_id,
      reference: answer.reference_id,
      currency: answer.currency,
      status: captured ? 'captured' : NO_MONEY.has(answer.status) ? 'failed' : 'open',
      capturedMinor: captured ? receivedMinor(sum) : ZERO,
    }
  }),
)

// Ids of any product's row become part of a key in our table, so characters and length are limited.
const RowId = v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,255}$/))

/** Id form of a captured payment; rows of older products have other ids. */
const CAPTURED = /^py-[A-Za-z0-9_-]{1,61}$/

// Lenient, because the page also holds rows of other products of the same account.
const TransactionSchema = v.pipe(
  v.object({
    id: RowId,
    type: v.string(),
    product_id: v.nullish(v.union([v.literal(''), RowId]), ''),
    reference_id: v.nullish(v.string(), ''),
    status: v.string(),
    currency: v.string(),
    amount: SignedAmount,
    // Signed, because a flat fee can exceed a tiny amount.
    net_amount: v.nullish(SignedAmount),
    cashflow: v.nullish(v.string(), 'MONEY_IN'),
    settlement_status: v.nullish(v.string(), ''),
    estimated_settlement_time: v.fallback(v.nullish(Time), undefined),
    channel_category: v.fallback(v.nullish(v.pipe(v.string(), v.regex(/^[A-Z_]{1,40}$/))), undefined),
    created: v.fallback(v.nullish(Time), undefined),
    updated: Time,
    fee: v.fallback(
      v.nullish(
        v.object({
          status: v.nullish(v.string(), ''),
          xendit_fee: v.nullish(Amount, 0),
          value_added_tax: v.nullish(Amount, 0),
        }),
      ),
      undefined,
    ),
    product_data: v.fallback(v.nullish(v.object({ payment_request_id: OptionalText })), undefined),
  }),
  // Outgoing rows may have a negative amount; payments never have one.
  v.check((row) => row.amount >= 0 || row.type !== 'PAYMENT'),
  v.transform((row): ProviderTransaction => {
    const type = TRANSACTION_TYPE.get(row.type) ?? 'unknown'
    const status = TRANSACTION_STATUS.get(row.status) ?? 'unknown'
    const settled = SETTLED.has(row.settlement_status ?? '')
    const isFinal = type === 'payment' && status === 'success' && settled && !FEE_NOT_FINAL.has(row.fee?.status ?? '')
    const net = isFinal ? (row.net_amount ?? undefined) : undefined
    const moved = Math.abs(row.net_amount ?? row.amount)
    const shownFee = FEE_NOT_FINAL.has(row.fee?.status ?? '')
      ? undefined
      : (row.fee?.xendit_fee ?? 0) + (row.fee?.value_added_tax ?? 0)
    const isChargeback = CHARGEBACK_TYPES.has(row.type)
    return {
      type,
      transactionId: row.id,
      providerPaymentId: row.product_id ?? '',
      ...(type === 'payment' && status === 'success' && CAPTURED.test(row.product_id ?? '') && { isCaptured: true }),
      paymentRequestId: row.product_data?.payment_request_id,
      reference: row.reference_id ?? '',
      status,
      returns: RETURNS.get(`${row.type} ${row.status}`),
      ...(WITHDRAWAL_TYPES.has(row.type) && { isWithdrawal: true }),
      ...(row.type === 'CHARGEBACK_REVERSAL' && row.status === 'SUCCESS' && { comesAgain: true }),
      currency: row.currency,
      amountMinor: receivedMinor(Math.abs(row.amount)),
      // Rounded down, so that we never count more than we have.
      providerMinor: minor(Math.floor(row.cashflow === 'MONEY_OUT' ? -moved : moved)),
      ...(isChargeback &&
        shownFee !== undefined && { disputedMinor: receivedMinor(Math.max(0, Math.abs(row.amount) - shownFee)) }),
      keptMinor: net === undefined ? undefined : keptOf(row.amount, net),
      // A row that settled early still carries its later expected time.
      settledAt: settled ? earlier(row.estimated_settlement_time ?? row.updated, row.updated) : undefined,
      settlesAt: row.estimated_settlement_time ?? undefined,
      category: row.channel_category ?? undefined,
      createdAt: row.created ?? undefined,
      updatedAt: row.updated,
    }
  }),
)

const RowIdSchema = v.object({ id: RowId })

const idOf = (row: unknown): string | undefined => {
  const parsed = v.safeParse(RowIdSchema, row)
  return parsed.success ? parsed.output.id : undefined
}

/** Twice the provider's page size, and the limit of one batch read of payments. */
const MAX_ROWS = 100

/** Parses row by row: an unreadable row is listed by id, and the others stay valid. */
export const TransactionPageSchema = v.pipe(
  v.object({ has_more: v.optional(v.boolean(), false), data: v.pipe(v.array(v.unknown()), v.maxLength(MAX_ROWS)) }),
  v.transform(({ has_more: hasMore, data }): TransactionPage => {
    const transactions: ProviderTransaction[] = []
    const unreadableIds: string[] = []
    for (const row of data) {
      const parsed = v.safeParse(TransactionSchema, row)
      if (parsed.success) transactions.push(parsed.output)
      else unreadableIds.push(idOf(row) ?? 'without an id')
    }
    if (unreadableIds.length === 0) return { transactions, hasMore }
    const afterId = data.map(idOf).findLast((id) => id !== undefined)
    return { transactions, unreadableIds, hasMore, ...(afterId !== undefined && { afterId }) }
  }),
)

const ErrorSchema = v.object({ error_code: v.pipe(v.string(), v.regex(/^[A-Z0-9_]{1,64}$/)) })

/** The provider's error code, safe to show and to log; `UNKNOWN` if the answer has no code of the known form. */
export const errorCodeOf = (json: unknown): string => {
  const parsed = v.safeParse(ErrorSchema, json)
  return parsed.success ? parsed.output.error_code : 'UNKNOWN'
}
