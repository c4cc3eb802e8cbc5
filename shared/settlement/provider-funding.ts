import type { Deps } from '../deps.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { type PaidPayment, paidPayments } from './paid-payments.ts'
import type { Settlement } from './settlement.ts'

export type Funding = {
  /** What the provider has paid us of this settlement's payments, its fees kept. */
  readonly fundedMinor: Minor
  /** What it still owes us. */
  readonly unfundedMinor: Minor
}

export const NO_FUNDING: Funding = { fundedMinor: ZERO, unfundedMinor: ZERO }

/** Adds what the provider has paid us for a payment, or owes us for it. */
export const addFunding = ({ fundedMinor, unfundedMinor }: Funding, payment: PaidPayment): Funding => {
  const receivedMinor = less(payment.notionalMinor, payment.providerFeeMinor)
  return payment.providerSettledAt === undefined
    ? { fundedMinor, unfundedMinor: plus(unfundedMinor, receivedMinor) }
    : { fundedMinor: plus(fundedMinor, receivedMinor), unfundedMinor }
}

/** How much of a settlement the provider has settled to us: one pass over its payments in the index. */
export const providerFunding = async (deps: Pick<Deps, 'table'>, settlement: Settlement): Promise<Funding> => {
  const period = { start: settlement.periodStart, end: settlement.periodEnd }
  let funding = NO_FUNDING
  for await (const payment of paidPayments(deps, settlement.clientId, period)) funding = addFunding(funding, payment)
  return funding
}
