import { hasSwept } from '../../settlement/settlement.ts'
import type { ClientBooks, StoredSettlement } from './client-books.ts'

/**
 * The settlement, and those whose sums it pays again: failed ones that were re-credited, and paid
 * ones that came back, directly or in turn.
 */
export function withCarried(
  { settlements }: Pick<ClientBooks, 'settlements'>,
  own: StoredSettlement,
): readonly StoredSettlement[] {
  const carriers = [own]
  const isIn = ({ settlement: { recreditedAt, returnedAt } }: StoredSettlement) =>
    carriers.some(({ settlement }) =>
      [recreditedAt, returnedAt].some((at) => at !== undefined && hasSwept(settlement, at)),
    )
  // A settlement is older than the settlements that carry it.
  for (const stored of settlements.toReversed())
    if (stored !== own && isIn(stored)) carriers.push(stored)
  return carriers
}
