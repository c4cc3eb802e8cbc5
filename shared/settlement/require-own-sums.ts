import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { hasLongWindow } from './long-settlement.ts'
import type { Settlement } from './settlement.ts'
import { addBlock, emptySums, SUM_FIGURES, sumPages } from './sum-entries.ts'

/**
 * Throws 422 unless the sums of a failed settlement are those of its entries: they become its
 * client's money again. A long settlement is summed again by audits alone.
 */
export async function requireOwnSums(
  deps: Pick<Deps, 'table' | 'stage'>,
  settlement: Settlement,
): Promise<void> {
  if (await hasLongWindow(deps, settlement)) return
  const { clientId, settlementId, sweptFrom, sweptUntil } = settlement
  const span = { start: sweptFrom, end: sweptUntil }
  const start = { sums: emptySums(settlementId), carried: [] }
  const { sums, carried } = await sumPages(deps, { clientId, span }, start)
  const own = addBlock(sums, carried, sweptFrom)
  if (SUM_FIGURES.every((figure) => own[figure] === settlement[figure])) return
  throw invalid(
    'the sums of this settlement are not those of its entries',
    undefined,
    `Run recount-ledger for client ${clientId} first: it writes them anew.`,
  )
}
