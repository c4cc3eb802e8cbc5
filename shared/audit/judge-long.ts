import { ifValid } from '../if-valid.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { MINUTE_MS } from '../time.ts'
import { type Confirmed, isExactly, isSame } from '../verdict/difference.ts'
import { moveAudit, type SettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import type { AuditDeps } from './audit-parts.ts'
import { auditSettlement, RecountSchema, recountSettlement } from './judged/audit-settlement.ts'
import type { ClientBooks, StoredSettlement } from './judged/client-books.ts'

const RUN_MS = 2 * MINUTE_MS
/** The most differences that the verdict keeps between runs. */
const MAX_KEPT = 50

/**
 * One run of the audit of a long settlement. Undefined: its progress is stored, and the next run continues. A difference
 * counts when the next pass over all entries finds it again. `seen`: what that pass must find.
 */
export const judgeLong = async (
  deps: AuditDeps,
  books: ClientBooks,
  stored: StoredSettlement,
  claimed: SettlementVerdict,
): Promise<(Confirmed & Pick<SettlementVerdict, 'seen'>) | undefined> => {
  const endsAtMs = deps.monotonicMs() + RUN_MS
  let pagesLeft = (deps.stage.historySteps ?? HISTORY_STEPS).pages
  const isOver = () => --pagesLeft <= 0 || deps.monotonicMs() >= endsAtMs
  // Progress that cannot be read is lost: the pass begins again.
  const from = ifValid(RecountSchema, claimed.progress)
  const { isWhole, differences, ...recounted } = await recountSettlement(deps, books, stored, from, isOver)
  // Entries after the last whole block are read again by the next run.
  const kept = differences.filter((one, at) => differences.findIndex((other) => isExactly(one, other)) === at)
  if (!isWhole) {
    const progress = { ...recounted, differences: kept.slice(0, MAX_KEPT) }
    await moveAudit(deps, claimed, { dueAt: deps.now(), progress })
    return undefined
  }
  const found = await auditSettlement(deps, books, stored, { ...recounted, differences: kept })
  const lasting = found.filter((difference) => claimed.seen.some((before) => isSame(before, difference)))
  if (found.length === 0 || lasting.length > 0) return { differences: lasting, isInconclusive: false, seen: [] }
  return { differences: [], isInconclusive: true, seen: found.slice(0, MAX_KEPT) }
}
