import type { PaymentId } from '../ids.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { later, type Timestamp } from '../time.ts'
import type { PaidPayment } from './paid-payments.ts'

/** What the provider has paid us of a window's payments, as far as they were looked at. */
export type Funding = {
  /** Every payment paid before it was looked at. */
  readonly until: Timestamp
  /** What the provider has paid us for them, its fees kept. */
  readonly fundedMinor: Minor
  /** Those among them that it has not paid us yet. All others are never looked at again. */
  readonly waiting: readonly PaymentId[]
}

export const noFunding = (start: Timestamp): Funding => ({ until: start, fundedMinor: ZERO, waiting: [] })

/**
 * Beyond so many nothing is kept: what is behind them is looked at when some of them are paid. They are read one by
 * one whenever somebody asks, and lie in one item.
 */
const MOST_WAITING = 50

/** What the provider pays us for a payment. */
const receivedMinor = ({ notionalMinor, providerFeeMinor }: PaidPayment): Minor => less(notionalMinor, providerFeeMinor)

export const isFunded = ({ providerSettledAt }: PaidPayment): boolean => providerSettledAt !== undefined

export const fundedIn = (payments: readonly PaidPayment[]): Minor =>
  payments.filter(isFunded).reduce((sum, payment) => plus(sum, receivedMinor(payment)), ZERO)

/**
 * Counts payments from `from` up to `until`, each once: of those it has counted already, because somebody else's look
 * came further than these sums, nothing is added. Undefined when too many would wait, and where it does not reach as far
 * as they begin: nobody would look into the gap again.
 */
export const addFunding = (
  funding: Funding,
  added: { readonly from: Timestamp; readonly payments: readonly PaidPayment[]; readonly until: Timestamp },
): Funding | undefined => {
  if (funding.until < added.from) return undefined
  const fresh = added.payments.filter(({ paidAt }) => paidAt >= funding.until)
  const waiting = [...funding.waiting, ...fresh.filter((payment) => !isFunded(payment)).map(({ id }) => id)]
  if (waiting.length > MOST_WAITING) return undefined
  return {
    until: later(funding.until, added.until),
    fundedMinor: plus(funding.fundedMinor, fundedIn(fresh)),
    waiting,
  }
}
