import type { Deps } from '../deps.ts'
import type { Minor } from '../money.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'

/** What the provider really kept of a payment, once it is final; `unexplained` is a zero where a tariff says otherwise. */
export type ActualFee =
  | { readonly kind: 'known'; readonly feeMinor: Minor }
  | { readonly kind: 'unexplained_zero' }
  | { readonly kind: 'not_known' }

/** A payment has one transaction; a few more are read so that a reversal beside it is seen. */
const TRANSACTIONS_READ = 10

/** Asks for the fee of one provider payment. No answer counts as not known: the estimate stays until the sync. */
export const askForFee = async (
  deps: Pick<Deps, 'provider'>,
  providerPaymentId: string,
  estimateMinor: Minor,
): Promise<ActualFee> => {
  const answer = await deps.provider.listTransactions(
    { providerPaymentId, limit: TRANSACTIONS_READ },
    PROVIDER_READ_TIMEOUT_MS,
  )
  if (answer.kind !== 'found') return { kind: 'not_known' }
  const final = answer.value.transactions.find(
    (transaction) =>
      transaction.providerPaymentId === providerPaymentId &&
      transaction.status === 'success' &&
      transaction.keptMinor !== undefined,
  )
  if (final?.keptMinor === undefined) return { kind: 'not_known' }
  return final.keptMinor === 0 && estimateMinor > 0
    ? { kind: 'unexplained_zero' }
    : { kind: 'known', feeMinor: final.keptMinor }
}
