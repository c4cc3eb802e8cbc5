import type { Deps } from '../deps.ts'
import type { Minor } from '../money.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderTransaction, type Unanswered } from '../provider/provider.ts'
import type { Payment } from './payment.ts'

/** What the provider really kept of a payment, once it is final; `unexplained_zero` where a tariff says otherwise. */
export type ActualFee =
  | { readonly kind: 'known'; readonly feeMinor: Minor }
  | { readonly kind: 'unexplained_zero' }
  /** The provider has no final fee for it. */
  | { readonly kind: 'not_known'; readonly hasTransaction: boolean }
  | Unanswered

/** A payment has one transaction; a few more are read so that a row that says something else does not hide it. */
const TRANSACTIONS_READ = 10

type Priced = Pick<Payment, 'notionalMinor' | 'currency' | 'providerFeeMinor'>

/** True when the transaction is about this payment's money: another amount says nothing about its fee. */
export const isForAmount = (transaction: ProviderTransaction, payment: Omit<Priced, 'providerFeeMinor'>): boolean =>
  transaction.amountMinor === payment.notionalMinor && transaction.currency === payment.currency

/** Nothing kept where the tariff names a fee, or less than nothing: a person must look before a client gets it. */
export const isUnexplainedFee = (keptMinor: Minor, estimateMinor: Minor): boolean =>
  keptMinor < 0 || (keptMinor === 0 && estimateMinor > 0)

/** Asks for the fee of one provider payment. Without a final one the estimate stays until the sync. */
export const askForFee = async (
  deps: Pick<Deps, 'provider'>,
  providerPaymentId: string,
  payment: Priced,
): Promise<ActualFee> => {
  const answer = await deps.provider.listTransactions(
    { providerPaymentId, limit: TRANSACTIONS_READ },
    PROVIDER_READ_TIMEOUT_MS,
  )
  if (answer.kind === 'unanswered') return answer
  if (answer.kind === 'not_found') return { kind: 'not_known', hasTransaction: false }
  const own = answer.value.transactions.filter((transaction) => transaction.providerPaymentId === providerPaymentId)
  const final = own.find(
    (transaction) =>
      transaction.status === 'success' && transaction.keptMinor !== undefined && isForAmount(transaction, payment),
  )
  if (final?.keptMinor === undefined) return { kind: 'not_known', hasTransaction: own.length > 0 }
  return isUnexplainedFee(final.keptMinor, payment.providerFeeMinor)
    ? { kind: 'unexplained_zero' }
    : { kind: 'known', feeMinor: final.keptMinor }
}
