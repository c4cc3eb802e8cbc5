import type { Deps } from '../deps.ts'
import { feeByKept, isForAmount } from '../payment/fee/actual-fee.ts'
import type { Payment } from '../payment/payment.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import type { SettledRow } from './post-payments.ts'

/**
 * A payment's own row if it can post the payment: of type payment, successful, settled, with a final fee and the
 * payment's amount. Undefined for any other row and for impossible amounts.
 */
export const settledRowOf = (
  deps: Pick<Deps, 'stage'>,
  payment: Payment,
  transaction: ProviderTransaction,
): SettledRow | undefined => {
  const { type, status, keptMinor, settledAt, transactionId, providerMinor } = transaction
  if (type !== 'payment' || status !== 'success' || keptMinor === undefined || settledAt === undefined) return undefined
  if (!isForAmount(transaction, payment)) return undefined
  const fee = feeByKept(deps, payment, keptMinor)
  return fee && { ...fee, transactionId, providerMinor, settledAt }
}
