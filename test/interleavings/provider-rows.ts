import { minor } from '../../shared/money.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import type { Timestamp } from '../../shared/time.ts'
import { settledRow } from '../support/fake-provider.ts'

const rowOf = (payment: Payment, at: Timestamp, fields: Partial<ProviderTransaction>): ProviderTransaction =>
  settledRow({ providerPaymentId: payment.creditedProviderPaymentId ?? '', reference: `${payment.paymentId}-1` }, at, {
    amountMinor: payment.notionalMinor,
    keptMinor: undefined,
    ...fields,
  })

/** The fee of the settled rows. It differs from the tariff's 4,000. */
const KEPT = minor(4_440)

/** The payment's own row, settled. A payment that is posted already by a row shows the same fee. */
export const ownRow = (payment: Payment, at: Timestamp, keptMinor = KEPT): ProviderTransaction =>
  rowOf(payment, at, {
    transactionId: `txn_${payment.paymentId}`,
    keptMinor,
    providerMinor: minor(payment.notionalMinor - keptMinor),
  })

/** The payment's own row, voided. */
export const voidRow = (payment: Payment, at: Timestamp): ProviderTransaction => ({
  ...rowOf(payment, at, { transactionId: `txn_${payment.paymentId}`, status: 'reversed', returns: 'voided' }),
  providerMinor: minor(0),
})

export const refundRow = (payment: Payment, at: Timestamp, amount: number): ProviderTransaction =>
  rowOf(payment, at, {
    type: 'return',
    returns: 'refund',
    transactionId: `refund_${payment.paymentId}_${amount}`,
    amountMinor: minor(amount),
    providerMinor: minor(-amount),
  })

const DISPUTED = 40_000
const DISPUTE_FEE = 5_000

export const chargebackRow = (payment: Payment, at: Timestamp): ProviderTransaction =>
  rowOf(payment, at, {
    type: 'return',
    returns: 'chargeback',
    transactionId: `dispute_${payment.paymentId}`,
    amountMinor: minor(DISPUTED + DISPUTE_FEE),
    disputedMinor: minor(DISPUTED),
    providerMinor: minor(-DISPUTED - DISPUTE_FEE),
  })

/** A dispute that is won, in part or as a whole. */
export const wonRow = (payment: Payment, at: Timestamp, amount = DISPUTED): ProviderTransaction =>
  rowOf(payment, at, {
    type: 'correction',
    comesAgain: true,
    transactionId: `won_${payment.paymentId}_${amount}`,
    amountMinor: minor(amount),
    providerMinor: minor(amount),
  })
