import type { Deps } from '../deps.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { paidPayments } from './paid-payments.ts'
import type { Settlement } from './settlement.ts'

export type Funding = {
  /** What the provider has paid us of this settlement's payments, its fees kept. */
  readonly fundedMinor: Minor
  /** What it still owes us. */
  readonly unfundedMinor: Minor
}

/** How much of a settlement the provider has settled to us: one pass over its payments in the index. */
export const providerFunding = async (deps: Pick<Deps, 'table'>, settlement: Settlement): Promise<Funding> => {
  const period = { start: settlement.periodStart, end: settlement.periodEnd }
  let fundedMinor = ZERO
  let unfundedMinor = ZERO
  for await (const payment of paidPayments(deps, settlement.clientId, period)) {
    const receivedMinor = less(payment.notionalMinor, payment.providerFeeMinor)
    if (payment.providerSettledAt === undefined) unfundedMinor = plus(unfundedMinor, receivedMinor)
    else fundedMinor = plus(fundedMinor, receivedMinor)
  }
  return { fundedMinor, unfundedMinor }
}
