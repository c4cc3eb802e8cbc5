import type { Deps } from '../../deps.ts'
import type { Minor } from '../../money.ts'
import { isScarce } from '../../provider/is-scarce.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderTransaction, type Unanswered } from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import { type ChannelChoice, settlesAtOnce } from '../channel/channels.ts'
import type { Payment } from '../payment.ts'

export type KnownFee = {
  readonly kind: 'known'
  readonly feeMinor: Minor
  /** The tariff's, of which the provider's transactions show nothing: it is billed after the month. */
  readonly invoiced?: true
  /** When the provider's money reached us, where whoever was asked for the fee said so too. */
  readonly settledAt?: Timestamp | undefined
}

/** What the provider really kept of a payment, once it is final. */
export type ActualFee =
  | KnownFee
  /** Less than nothing: a person must look before a client gets it. */
  | { readonly kind: 'below_zero'; readonly keptMinor: Minor }
  /** The provider has no final fee for it. */
  | { readonly kind: 'not_known'; readonly hasTransaction: boolean }
  | Unanswered

/** A payment has one transaction; a few more are read so that a row that says something else does not hide it. */
const TRANSACTIONS_READ = 10

type Priced = Pick<Payment, 'notionalMinor' | 'currency' | 'providerFeeMinor'>

/** True when the transaction is about this payment's money: another amount says nothing about its fee. */
export const isForAmount = (transaction: ProviderTransaction, payment: Omit<Priced, 'providerFeeMinor'>): boolean =>
  transaction.amountMinor === payment.notionalMinor && transaction.currency === payment.currency

const invoicedFee = ({ providerFeeMinor }: Pick<Priced, 'providerFeeMinor'>): KnownFee => ({
  kind: 'known',
  feeMinor: providerFeeMinor,
  invoiced: true,
})

/**
 * The fee of an estimated payment by what the provider kept of it, finally. Nothing is a fee like any other (a promotion,
 * the provider's test mode), except under a contract that bills later, where every row says so.
 */
export const feeByKept = (
  { stage }: Pick<Deps, 'stage'>,
  payment: Pick<Priced, 'providerFeeMinor'>,
  keptMinor: Minor,
): Extract<ActualFee, { kind: 'known' | 'below_zero' }> => {
  if (keptMinor < 0) return { kind: 'below_zero', keptMinor }
  if (keptMinor === 0 && stage.providerFees === 'invoiced') return invoicedFee(payment)
  return { kind: 'known', feeMinor: keptMinor }
}

/** Asks for the fee of one provider payment. Without a final one the estimate stays until the sync. */
export const askForFee = async (
  deps: Pick<Deps, 'provider' | 'stage'>,
  providerPaymentId: string,
  payment: Priced,
): Promise<ActualFee> => {
  const answer = await deps.provider.listTransactions(
    { providerPaymentId, limit: TRANSACTIONS_READ },
    PROVIDER_READ_TIMEOUT_MS,
  )
  if (answer.kind === 'unanswered') return answer
  if (answer.kind === 'not_found') return { kind: 'not_known', hasTransaction: false }
  const own = answer.value.transactions.filter(
    (transaction) => transaction.type === 'payment' && transaction.providerPaymentId === providerPaymentId,
  )
  const final = own.find(
    (transaction) =>
      transaction.status === 'success' && transaction.keptMinor !== undefined && isForAmount(transaction, payment),
  )
  if (final?.keptMinor === undefined) return { kind: 'not_known', hasTransaction: own.length > 0 }
  const fee = feeByKept(deps, payment, final.keptMinor)
  return fee.kind === 'known' ? { ...fee, settledAt: final.settledAt } : fee
}

/** Nobody has been asked: the estimate stays until the sync. */
const NOT_ASKED: ActualFee = { kind: 'not_known', hasTransaction: false }

/**
 * The fee at success. Under a contract that bills later it is the tariff's, and nobody need be asked. Else the provider is
 * asked where it can know it by now, and only while half of its minute's calls are left: those are the sync's, which
 * brings fifty fees with one call.
 */
export const feeAtSuccess = async (
  deps: Pick<Deps, 'provider' | 'stage' | 'now'>,
  providerPaymentId: string,
  payment: Priced & ChannelChoice,
): Promise<ActualFee> => {
  if (deps.stage.providerFees === 'invoiced') return invoicedFee(payment)
  const isWorthAsking = settlesAtOnce(payment) && !isScarce(deps, 'listTransactions')
  return isWorthAsking ? askForFee(deps, providerPaymentId, payment) : NOT_ASKED
}
