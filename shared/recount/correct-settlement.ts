import {
  auditSettlement,
  isAboutSums,
  recountSettlement,
} from '../audit/judged/audit-settlement.ts'
import type { ClientBooks, StoredSettlement } from '../audit/judged/client-books.ts'
import { moveSweptSums } from '../ledger/window-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { correctSums, mayChangeSums } from '../settlement/settlement-store.ts'
import { runLimit } from '../settlement/sum-entries.ts'
import { MINUTE_MS } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'
import type { RecountDeps, Repair } from './repair.ts'

/** How much a repair of settlements changes what they have taken of a client's money. */
export type Taken = { readonly netMinor: Minor; readonly writtenOffMinor: Minor }

const SUM_MS = 2 * MINUTE_MS

/**
 * Writes the sums of a settlement's entries, if an entry became visible after the settlement was
 * recorded (design section 4). The window follows. The entry's own transaction has changed the
 * shard. Nothing is written if the settlement differs otherwise, or its money has left the window.
 */
export async function correctSettlement(
  deps: RecountDeps,
  books: ClientBooks,
  row: StoredSettlement,
  differences: readonly Difference[],
): Promise<readonly (Repair & { readonly taken: Taken })[]> {
  const { settlement } = row
  const { clientId, settlementId } = settlement
  const targets = differences.filter(
    (difference) => isAboutSums(difference) && difference.id === settlementId,
  )
  if (targets.length === 0 || !mayChangeSums(settlement)) return []
  const recount = await recountSettlement(deps, books, row, undefined, runLimit(deps, SUM_MS))
  const { sums, isWhole } = recount
  // Nothing at or below zero can be paid out.
  if (
    !isWhole ||
    sums.netMinor <= 0 ||
    !(await auditSettlement(deps, books, row, recount)).every(isAboutSums)
  )
    return []
  const netMinor = less(sums.netMinor, settlement.netMinor)
  const recreditedMinor = less(sums.recreditedMinor, settlement.recreditedMinor)
  const steps = () => ({
    settlement: correctSums(settlement, sums),
    window: moveSweptSums(clientId, { netMinor, recreditedMinor }),
  })
  const taken = {
    netMinor: less(netMinor, recreditedMinor),
    writtenOffMinor: less(writtenOffIn(sums), writtenOffIn(settlement)),
  }
  return [{ subject: settlementId, targets, steps, taken }]
}

function writtenOffIn({ totals }: Pick<Settlement, 'totals'>): Minor {
  const writtenOff = totals.filter(({ type }) => type === 'written_off')
  return writtenOff.reduce((sum, { netMinor }) => plus(sum, netMinor), ZERO)
}
