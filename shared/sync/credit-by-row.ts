import { isForAmount } from '../payment/fee/actual-fee.ts'
import type { NewsDeps } from '../payment/news/news-deps.ts'
import { succeedPayment } from '../payment/news/succeed-payment.ts'
import type { Payment } from '../payment/payment.ts'
import { referenceOf } from '../payment/provider-attempts.ts'
import type { ProviderPayment, ProviderTransaction } from '../provider/provider.ts'

/** Whether a row says, in every particular, that the request behind a pending payment was paid as asked. */
const isAnswerFor = (transaction: ProviderTransaction, payment: Payment): boolean =>
  transaction.isCaptured === true &&
  payment.status === 'pending' &&
  transaction.reference === referenceOf(payment.paymentId, payment.attempt) &&
  (transaction.paymentRequestId === undefined || transaction.paymentRequestId === payment.paymentRequestId) &&
  isForAmount(transaction, payment) &&
  payment.rememberedProviderPaymentIds === undefined

/**
 * Credits a pending payment by a row that we fetched ourselves: it is the provider's own answer, and one page of them
 * answers for fifty. The transaction of the one door writes it, on `pending` as ever, so it happens once whoever else
 * brings the same money. Undefined: the row does not match, or the payment has moved on; then the provider is asked.
 */
export const creditByRow = async (
  deps: NewsDeps,
  known: Payment | undefined,
  transaction: ProviderTransaction,
): Promise<Payment | undefined> => {
  if (known === undefined || !isAnswerFor(transaction, known)) return undefined
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
