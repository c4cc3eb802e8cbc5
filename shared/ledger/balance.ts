import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { later, type Timestamp } from '../time.ts'
import { type Ledger, readLedger } from './ledger-store.ts'

export type Balance = {
  readonly availableMinor: Minor
  readonly pendingMinor: Minor
  /** Settlements recorded, or failed and not yet re-credited. */
  readonly inSettlementMinor: Minor
  readonly paidOutMinor: Minor
  /** Undefined for a client that never received a payment. */
  readonly updatedAt: Timestamp | undefined
}

/** All that was ever credited. */
export const creditedOf = ({ shards }: Pick<Ledger, 'shards'>): Minor =>
  shards.reduce((sum, { creditedMinor }) => plus(sum, creditedMinor), ZERO)

/**
 * Pending is the sum of all credits less what settlements have taken: available + in settlement + paid out (spec 2.2;
 * design section 3). The last change is the later one of a credit and a change of the window.
 */
export const balanceOf = (ledger: Ledger): Balance => {
  const { shards, window } = ledger
  const { availableMinor, inSettlementMinor, paidOutMinor } = window
  const taken = plus(plus(availableMinor, inSettlementMinor), paidOutMinor)
  const times = [...shards.map(({ creditedAt }) => creditedAt), window.changedAt].filter((time) => time !== undefined)
  return {
    availableMinor,
    pendingMinor: less(creditedOf(ledger), taken),
    inSettlementMinor,
    paidOutMinor,
    updatedAt: times.length > 0 ? times.reduce(later) : undefined,
  }
}

/** A client's balance, strongly consistent, at a cost that does not depend on how many payments it has (spec 4.5). */
export const getBalance = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Balance> =>
  balanceOf(await readLedger(deps, clientId))
