import type { Deps } from '../deps.ts'
import type { Minor } from '../money.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderTransaction, type Unanswered } from '../provider/provider.ts'
import type { Payment } from './payment.ts'

/** A payment has one row. A few more are read, so that other rows cannot hide it. */
const TRANSACTIONS_READ = 10

/** True when the row is about this payment's money. A row with another amount says nothing about its fee. */
export const isForAmount = (
  transaction: ProviderTransaction,
  payment: Pick<Payment, 'notionalMinor' | 'currency'>,
): boolean => transaction.amountMinor === payment.notionalMinor && transaction.currency === payment.currency

/** The final fee: what the provider kept. Zero is a fee, except under a contract that bills later. */
export const feeByKept = (
  { stage }: Pick<Deps, 'stage'>,
  { providerFeeMinor }: Pick<Payment, 'providerFeeMinor'>,
  keptMinor: Minor,
): { readonly feeMinor: Minor; readonly invoiced?: true } | undefined => {
  if (keptMinor < 0) return undefined
  if (keptMinor === 0 && stage.providerFees === 'invoiced') return { feeMinor: providerFeeMinor, invoiced: true }
  return { feeMinor: keptMinor }
}

export type OwnRow =
  | { readonly kind: 'settled'; readonly transaction: ProviderTransaction }
  | { readonly kind: 'not_settled'; readonly hasTransaction: boolean }
  | Unanswered

/** Asks the provider for the payment's own row. Answers its final fee, or that it is not settled yet. */
export const askForOwnRow = async (
  deps: Pick<Deps, 'provider'>,
  payment: Pick<Payment, 'creditedProviderPaymentId' | 'notionalMinor' | 'currency'>,
): Promise<OwnRow> => {
  const providerPaymentId = payment.creditedProviderPaymentId ?? ''
  const answer = await deps.provider.listTransactions(
    { providerPaymentId, limit: TRANSACTIONS_READ },
    PROVIDER_READ_TIMEOUT_MS,
  )
  if (answer.kind === 'unanswered') return answer
  const rows = answer.kind === 'found' ? answer.value.transactions : []
  const own = rows.filter((row) => row.type === 'payment' && row.providerPaymentId === providerPaymentId)
  const transaction = own.find(
    ({ status, keptMinor, ...row }) =>
      status === 'success' && keptMinor !== undefined && isForAmount({ status, keptMinor, ...row }, payment),
  )
  return transaction ? { kind: 'settled', transaction } : { kind: 'not_settled', hasTransaction: own.length > 0 }
}
