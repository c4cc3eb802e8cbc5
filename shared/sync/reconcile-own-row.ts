import { referenceOf } from '../ids.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { succeedPayment } from '../payment/news/succeed-payment.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import {
  bookLateRow,
  isForAmount,
  type Posting,
  postPayments,
  settledRowOf,
} from '../posting/post-payments.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { isCreditedWith, recordFinding } from './provider-row.ts'

/** Each try books the row or loses a race; the next read shows the result. */
const MAX_TRIES = 5

/** Posts a payment by its own settled row, once. Another fee than the posted one is a finding. Safe to repeat. */
export async function reconcileOwnRow(
  deps: NewsDeps,
  known: Payment,
  transaction: ProviderTransaction,
) {
  const { keptMinor } = transaction
  if (keptMinor === undefined) return
  let payment = known
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const row = settledRowOf(deps, payment, transaction)
    if (row === undefined) return recordFinding(deps, payment, transaction, 'fee_changed')
    if (payment.isVoid === true) return
    if (payment.openAt !== undefined) await postPayments(deps, [{ payment, by: { row } }])
    else if (payment.ownRow === undefined) await bookLateRow(deps, payment, row)
    else {
      const expectedMinor = payment.finalFee?.invoiced === true ? 0 : payment.providerFeeMinor
      return expectedMinor === keptMinor
        ? undefined
        : recordFinding(deps, payment, transaction, 'fee_changed')
    }
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (!isCreditedWith(stored, transaction)) return
    payment = stored
  }
  throw new Error('a payment kept changing while its own row was booked')
}

export type KnownRow = {
  readonly transaction: ProviderTransaction
  readonly known: Payment | undefined
}

/** The posting of an open payment whose settled row this is. */
export function postingBy(deps: NewsDeps, { transaction, known }: KnownRow): Posting | undefined {
  if (!isCreditedWith(known, transaction) || known.openAt === undefined) return undefined
  const row = settledRowOf(deps, known, transaction)
  return row && { payment: known, by: { row } }
}

/**
 * Credits a pending payment by a row that the sync fetched, on condition that it is pending, without a further call.
 * Undefined: the row does not match, or the payment is no longer pending; the caller then asks the provider.
 */
export async function creditByRow(
  deps: NewsDeps,
  { known, transaction }: KnownRow,
): Promise<Payment | undefined> {
  if (known === undefined || !matchesPayment(transaction, known)) return undefined
  const { providerPaymentId, reference, currency, amountMinor: capturedMinor } = transaction
  const captured = {
    providerPaymentId,
    reference,
    currency,
    capturedMinor,
    status: 'captured',
  } as const
  return succeedPayment(
    deps,
    known,
    { ...captured, paymentRequestId: known.paymentRequestId },
    'sync',
  )
}

function matchesPayment(transaction: ProviderTransaction, payment: Payment): boolean {
  return (
    transaction.isCaptured === true &&
    payment.status === 'pending' &&
    transaction.reference === referenceOf(payment.paymentId, payment.attempt) &&
    (transaction.paymentRequestId === undefined ||
      transaction.paymentRequestId === payment.paymentRequestId) &&
    isForAmount(transaction, payment) &&
    payment.rememberedProviderPaymentIds === undefined
  )
}
