import { settlementPart } from '../audit/audit-parts.ts'
import { believed } from '../audit/believed.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Difference } from '../verdict/difference.ts'
import { newSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf } from './repair.ts'

export type JudgedSettlement = { readonly settlement: Settlement; readonly differences: readonly Difference[] }

/** Run in parallel, because each waits ten seconds before its second look. */
const SIDE_BY_SIDE = 10

/** Judges the named settlements again, as an audit does. */
export const judgeSettlements = async (
  deps: RecountDeps,
  books: ClientBooks,
  expected: readonly Difference[],
): Promise<readonly JudgedSettlement[]> => {
  const ids = new Set<string>(expected.map(({ id }) => id))
  const named = books.settlements.filter(({ settlement: { settlementId } }) => ids.has(settlementId))
  return mapInChunks(named, SIDE_BY_SIDE, async ({ settlement }) => {
    const { differences } = await believed(deps, settlementPart(deps, books, settlement.settlementId).judge)
    return { settlement, differences }
  })
}

/** Creates missing verdicts. Without a verdict a settlement is never audited, so it is never paid out. */
export const repairVerdicts = (
  deps: RecountDeps,
  by: RecountBy,
  judged: readonly JudgedSettlement[],
): readonly Repair[] =>
  judged.flatMap(({ settlement, differences }) => {
    const of = differences.filter(({ what }) => what === 'settlement.verdict')
    if (of.length === 0) return []
    const { settlementId, clientId } = settlement
    const verdict = newSettlementVerdict({ settlementId, clientId, createdAt: deps.now() })
    return [repairOf(deps, by, { subject: settlementId, of, steps: () => ({ verdict }) })]
  })
