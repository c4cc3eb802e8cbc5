import type { Deps } from '../deps.ts'
import type { Minor } from '../money.ts'
import { PROVIDER_READ_TIMEOUT_MS, type Unanswered } from '../provider/provider.ts'

/** What the provider really kept of a payment, once it is final; `unexplained` is a zero where a tariff says otherwise. */
export type ActualFee =
  | { readonly kind: 'known'; readonly feeMinor: Minor }
  | { readonly kind: 'unexplained_zero' }
  /** The provider has no final fee for it. */
  | { readonly kind: 'not_known'; readonly hasTransaction: boolean }
  | Unanswered

/** A payment has one transaction; a few more are read so that a reversal beside it is seen. */
const TRANSACTIONS_READ = 10

/** Asks for the fee of one provider payment. Without a final one the estimate stays until the sync. */
export const askForFee = async (
  deps: Pick<Deps, 'provider'>,
  providerPaymentId: string,
  estimateMinor: Minor,
): Promise<ActualFee> => {
  const answer = await deps.provider.listTransactions(
    { providerPaymentId, limit: TRANSACTIONS_READ },
    PROVIDER_READ_TIMEOUT_MS,
  )
  if (answer.kind === 'unanswered') return answer
  if (answer.kind === 'not_found') return { kind: 'not_known', hasTransaction: false }
  const own = answer.value.transactions.filter(
    (transaction) => transaction.providerPaymentId === providerPaymentId && transaction.status === 'success',
  )
  const final = own.find(({ keptMinor }) => keptMinor !== undefined)
  if (final?.keptMinor === undefined) return { kind: 'not_known', hasTransaction: own.length > 0 }
  return final.keptMinor === 0 && estimateMinor > 0
    ? { kind: 'unexplained_zero' }
    : { kind: 'known', feeMinor: final.keptMinor }
}
