import * as v from 'valibot'
import { PaymentIdSchema, sha256Hex } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { atLeastZero, less, minor, ZERO } from '../../money.ts'
import { earlier } from '../../time.ts'
import type { ProviderTransaction, TransactionPage } from '../provider.ts'
import {
  Amount,
  lenient,
  OptionalText,
  receivedMinor,
  SignedAmount,
  Time,
} from './xendit-schema.ts'

const LISTED_TYPES = [
  ...typeEntries('payment', 'PAYMENT'),
  ...typeEntries('return', 'REFUND', 'CHARGEBACK'),
  ...typeEntries('correction', 'ADJUSTMENT_ADD', 'ADJUSTMENT_DEDUCT', 'OTHER'),
  ...typeEntries(
    'account',
    'BNPL_PARTNER_SETTLEMENT_CREDIT',
    'BNPL_PARTNER_SETTLEMENT_DEBIT',
    'CASHBACK_FEE',
    'CASHBACK_VAT',
    'CONVERSION',
    'DISBURSEMENT',
    'FOREX_DEDUCTION',
    'FOREX_DEPOSIT',
    'IN_PERSON_PAYMENT',
    'LOAN_REPAYMENT',
    'REMITTANCE',
    'REMITTANCE_COLLECTION_PAYMENT',
    'REMITTANCE_PAYOUT',
    'RESERVES_HOLD',
    'RESERVES_RELEASE',
    'TOPUP',
    'TRANSFER_IN',
    'TRANSFER_OUT',
    'WITHDRAWAL',
  ),
]

/** Documented elsewhere, or known from the SDKs: as a filter the list may refuse them. */
const OTHER_LISTS = [
  ...typeEntries('return', 'chargeback_deduction'),
  ...typeEntries('correction', 'CHARGEBACK_REVERSAL'),
  ...typeEntries(
    'account',
    'BATCH_DISBURSEMENT',
    'CASHBACK',
    'PLATFORM_FEE',
    'REMITTANCE_COLLECTION',
    'TRANSFER',
  ),
]

const TRANSACTION_TYPE = new Map([...LISTED_TYPES, ...OTHER_LISTS])

export const OTHER_TYPES = LISTED_TYPES.map(([name]) => name).filter((name) => name !== 'PAYMENT')

const TRANSACTION_STATUS: ReadonlyMap<string, ProviderTransaction['status']> = new Map([
  ['PENDING', 'pending'],
  ['SUCCESS', 'success'],
  ['FAILED', 'failed'],
  ['VOIDED', 'reversed'],
  ['REVERSED', 'reversed'],
])
const REVERSAL_KINDS: ReadonlyMap<string, ProviderTransaction['reversalKind']> = new Map([
  ['PAYMENT VOIDED', 'voided'],
  ['PAYMENT REVERSED', 'reversed'],
  ['REFUND SUCCESS', 'refund'],
  ['CHARGEBACK SUCCESS', 'chargeback'],
  ['chargeback_deduction SUCCESS', 'chargeback'],
])

const SETTLED = new Set(['SETTLED', 'EARLY_SETTLED'])
const FEE_FINAL = new Set(['COMPLETED', 'NOT_APPLICABLE'])
/** The provider does not charge the fee, or has given it back. */
const FEE_GONE = new Set(['CANCELED', 'REVERSED'])

/** The documented members of the other enums of a row. A row may lack each of these fields. */
const SETTLEMENT_STATUSES = new Set(['', 'PENDING', ...SETTLED])
/** A fee of any other status may still change. */
const FEE_ENDED = new Set(['', ...FEE_GONE, ...FEE_FINAL])
const FEE_STATUSES = new Set(['PENDING', ...FEE_ENDED])
const CASHFLOWS = new Set(['MONEY_IN', 'MONEY_OUT'])

// Ids of any product's row become part of a key in our table, so characters and length are limited.
const RowId = v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,255}$/))

/** Id form of a captured payment; rows of older products have other ids. */
const CAPTURED = /^py-[A-Za-z0-9_-]{1,61}$/

// Lenient, because the page also holds rows of other products of the same account.
const RowSchema = v.object({
  id: RowId,
  type: v.string(),
  product_id: v.nullish(v.union([v.literal(''), RowId]), ''),
  // Cut: a row of another product must fit into an item of our table.
  reference_id: v.nullish(
    v.pipe(
      v.string(),
      v.transform((text) => text.slice(0, 255)),
    ),
    '',
  ),
  description: v.fallback(v.nullish(v.string(), ''), ''),
  status: v.string(),
  currency: v.string(),
  amount: SignedAmount,
  // Signed, because a flat fee can exceed a tiny amount.
  net_amount: v.nullish(SignedAmount),
  net_amount_currency: v.nullish(v.string()),
  cashflow: v.nullish(v.string(), ''),
  settlement_status: v.nullish(v.string(), ''),
  estimated_settlement_time: lenient(Time),
  channel_category: lenient(v.pipe(v.string(), v.regex(/^[A-Z_]{1,40}$/))),
  // A part of the key of what the house books of the row. Another time would book it again.
  created: Time,
  updated: Time,
  fee: lenient(
    v.object({
      status: v.nullish(v.string(), ''),
      xendit_fee: v.nullish(Amount, 0),
      value_added_tax: v.nullish(Amount, 0),
    }),
  ),
  product_data: lenient(v.object({ payment_request_id: OptionalText })),
})

const TransactionSchema = v.pipe(
  RowSchema,
  // Only outgoing rows may have a negative amount, never payments.
  v.check((row) => row.amount >= 0 || row.type !== 'PAYMENT'),
  v.transform((row): ProviderTransaction => {
    const type = TRANSACTION_TYPE.get(row.type) ?? 'unknown'
    // Without a known direction the row cannot be booked.
    const status = CASHFLOWS.has(row.cashflow)
      ? (TRANSACTION_STATUS.get(row.status) ?? 'unknown')
      : 'unknown'
    const feeStatus = row.fee?.status ?? ''
    const isKnown = SETTLEMENT_STATUSES.has(row.settlement_status) && FEE_STATUSES.has(feeStatus)
    const isCaptureId = CAPTURED.test(row.product_id)
    const isPaid = type === 'payment' && status === 'success'
    const isSettled = SETTLED.has(row.settlement_status)
    const isFeeFinal = FEE_FINAL.has(feeStatus)
    const isFeeEnded = isFeeFinal || FEE_GONE.has(feeStatus)
    const isDisputeWon = row.type === 'CHARGEBACK_REVERSAL' && row.status === 'SUCCESS'
    const isMovement = type === 'return' || isDisputeWon
    const isForeignNet = (row.net_amount_currency ?? row.currency) !== row.currency
    const isNetFinal = isPaid && isSettled && isFeeFinal && !isForeignNet
    const { isFeeInNet, ...figures } = figuresOf(row, isForeignNet)
    const { amountMinor, providerMinor, feeMinor, disputedMinor } = figures
    const hasFee = feeMinor !== 0 && (isFeeFinal || isFeeInNet)
    return {
      type,
      transactionId: row.id,
      // A refund may carry its own id here, which names no payment.
      providerPaymentId: type === 'payment' || isCaptureId ? row.product_id : '',
      ...(isPaid && isCaptureId && { isCaptured: true }),
      paymentRequestId: row.product_data?.payment_request_id || undefined,
      reference: row.reference_id,
      ...(row.cashflow === 'MONEY_OUT' && {
        mentionedPaymentIds: mentionedIn(`${row.reference_id} ${row.description}`),
      }),
      status,
      ...(!isKnown && { hasUnknownMember: true }),
      reversalKind: REVERSAL_KINDS.get(`${row.type} ${row.status}`),
      ...(row.type === 'WITHDRAWAL' && { transfer: 'withdrawal' }),
      ...(row.type === 'TOPUP' && { transfer: 'topup' }),
      ...(isDisputeWon && { isDisputeWon }),
      currency: row.currency,
      amountMinor,
      providerMinor,
      ...(isForeignNet && { isForeignNet }),
      ...(type !== 'payment' && hasFee && { feeMinor }),
      ...(isFeeEnded && { isFeeEnded }),
      ...(isMovement && !FEE_ENDED.has(feeStatus) && { hasOpenFee: true }),
      ...(isFeeFinal && disputedMinor !== undefined && { disputedMinor }),
      keptMinor:
        isNetFinal && typeof row.net_amount === 'number'
          ? less(amountMinor, providerMinor)
          : undefined,
      // A row that settled early still carries its later expected time.
      settledAt: isSettled
        ? earlier(row.estimated_settlement_time ?? row.updated, row.updated)
        : undefined,
      settlesAt: row.estimated_settlement_time,
      category: row.channel_category,
      createdAt: row.created,
      updatedAt: row.updated,
    }
  }),
)

const MAX_MENTIONED = 10

/** The ids of the form of a payment's. Banks print a description in capitals. */
function mentionedIn(text: string) {
  const form = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
  const found = [...new Set(text.toLowerCase().match(form))].slice(0, MAX_MENTIONED)
  return found.length === 0 ? undefined : found.flatMap((id) => ifValid(PaymentIdSchema, id) ?? [])
}

/**
 * What the row moves is its own net amount, signed by its cashflow: a fee that exceeds a tiny
 * payment makes the net of money in negative. Without a net the amount and the fee say it.
 */
function figuresOf(
  { type, amount, net_amount: net, cashflow, fee }: v.InferOutput<typeof RowSchema>,
  isForeignNet: boolean,
) {
  const isOut = cashflow === 'MONEY_OUT'
  const absolute = Math.abs(amount)
  const isGone = FEE_GONE.has(fee?.status ?? '')
  const shownFee = isGone ? 0 : (fee?.xendit_fee ?? 0) + (fee?.value_added_tax ?? 0)
  const isDispute = REVERSAL_KINDS.get(`${type} SUCCESS`) === 'chargeback'
  const feeBeside = isDispute ? 0 : shownFee
  const expected = isOut ? -(absolute + feeBeside) : absolute - feeBeside
  const shownNet = (isForeignNet ? undefined : net) ?? expected
  const moved = isOut ? -Math.abs(shownNet) : shownNet
  const amountMinor = receivedMinor(absolute)
  // The amount of a chargeback includes the provider's fee. Sums of fractions are not exact.
  const disputedMinor = isDispute
    ? atLeastZero(minor(Math.floor(absolute - shownFee + TOLERANCE)))
    : undefined
  // Rounded down, so that we never count more than we have.
  const providerMinor = minor(Math.floor(moved))
  const bookedMinor = disputedMinor ?? amountMinor
  const exactFeeMinor = isOut
    ? less(less(ZERO, providerMinor), bookedMinor)
    : less(bookedMinor, providerMinor)
  // Fractions of a rupiah are no contradiction: they count as fee.
  const isExact = Math.abs(moved - expected) < TOLERANCE && Math.abs(exactFeeMinor - shownFee) < 2
  const feeMinor = isExact ? exactFeeMinor : minor(Math.ceil(shownFee))
  // The disputed amount is not known while the fee may change.
  return { amountMinor, providerMinor, feeMinor, disputedMinor, isFeeInNet: isExact && !isDispute }
}

const TOLERANCE = 1e-6

const RowIdSchema = v.object({ id: RowId })

/**
 * Parses row by row: an unreadable row is listed by id, or without an id by its digest, and the
 * others stay valid. A page has at most twice the provider's page size, which is the limit of one
 * batch read of payments.
 */
export const TransactionPageSchema = v.pipe(
  v.object({
    has_more: v.nullish(v.boolean(), false),
    data: v.pipe(v.array(v.unknown()), v.maxLength(100)),
  }),
  v.transform(({ has_more: hasMore, data }): TransactionPage => {
    const rows = data.map((row) => ({ row, transaction: ifValid(TransactionSchema, row) }))
    const transactions = rows.flatMap(({ transaction }) => transaction ?? [])
    const unreadableIds = rows.flatMap(({ row, transaction }) =>
      transaction ? [] : (idOf(row) ?? `without an id ${digestOf(row)}`),
    )
    if (unreadableIds.length === 0) return { transactions, hasMore }
    const afterId = data.map(idOf).findLast((id) => id !== undefined)
    return { transactions, unreadableIds, hasMore, ...(afterId !== undefined && { afterId }) }
  }),
  // More rows without a position to continue from could never be read.
  v.check(({ transactions, afterId, hasMore }) => {
    return !hasMore || transactions.length > 0 || afterId !== undefined
  }),
)

function typeEntries(type: ProviderTransaction['type'], ...names: readonly string[]) {
  return names.map((name) => [name, type] as const)
}

function idOf(row: unknown) {
  return ifValid(RowIdSchema, row)?.id
}

/** Each unreadable row is told once, and not only the first one. */
function digestOf(row: unknown) {
  return sha256Hex(JSON.stringify(row)).slice(0, 16)
}
