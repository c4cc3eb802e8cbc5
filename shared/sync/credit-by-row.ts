import { referenceOf } from '../ids.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import { succeedPayment } from '../payment/news/succeed-payment.ts'
import type { Payment } from '../payment/payment.ts'
import { isForAmount } from '../posting/post-payments.ts'
import type { ProviderPayment, ProviderTransaction } from '../provider/provider.ts'

/**
 * Credits a pending payment by a row that the sync fetched. This needs no further call: one page holds fifty rows.
 * The write has the condition `pending`, so the payment is credited once. Undefined: the row does not match, or the
 * payment is no longer pending; the caller then asks the provider.
 */
export const creditByRow = async (
  deps: NewsDeps,
  known: Payment | undefined,
  transaction: ProviderTransaction,
): Promise<Payment | undefined> => {
  if (known === undefined || !matchesPayment(transaction, known)) return undefined
  const capture: ProviderPayment = {
    providerPaymentId: transaction.providerPaymentId,
    paymentRequestId: known.paymentRequestId,
    reference: transaction.reference,
    currency: transaction.currency,
    status: 'captured',
    capturedMinor: transaction.amountMinor,
  }
  return succeedPayment(deps, known, capture, 'sync')
}

const matchesPayment = (transaction: ProviderTransaction, payment: Payment): boolean =>
  transaction.isCaptured === true &&
  payment.status === 'pending' &&
  transaction.reference === referenceOf(payment.paymentId, payment.attempt) &&
  (transaction.paymentRequestId === undefined || transaction.paymentRequestId === payment.paymentRequestId) &&
  isForAmount(transaction, payment) &&
  payment.rememberedProviderPaymentIds === undefined
