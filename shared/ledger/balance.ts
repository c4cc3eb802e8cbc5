import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { later, type Timestamp } from '../time.ts'
import { type Ledger, readLedger } from './ledger-store.ts'

export type Balance = {
  readonly availableMinor: Minor
  readonly pendingMinor: Minor
  /** Nets of settlements recorded, or failed and not yet recredited. */
  readonly inSettlementMinor: Minor
  readonly paidOutMinor: Minor
  /** Undefined for a client that never received a payment. */
  readonly updatedAt: Timestamp | undefined
}

/** Pending is all that was ever credited less all that was ever swept; the rest is the window's (spec 2.2). */
export const balanceOf = ({ shards, window }: Ledger): Balance => {
  const credited = shards.reduce((sum, { creditedMinor }) => plus(sum, creditedMinor), ZERO)
  const times = [...shards.map(({ creditedAt }) => creditedAt), window?.changedAt].filter((time) => time !== undefined)
  return {
    availableMinor: window?.availableMinor ?? ZERO,
    pendingMinor: less(credited, window?.settledMinor ?? ZERO),
    inSettlementMinor: window?.inSettlementMinor ?? ZERO,
    paidOutMinor: window?.paidOutMinor ?? ZERO,
    updatedAt: times.length > 0 ? times.reduce(later) : undefined,
  }
}

/** A client's balance, strongly consistent, at a cost that does not depend on how many payments it has (spec 4.5). */
export const getBalance = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Balance> =>
  balanceOf(await readLedger(deps, clientId))
