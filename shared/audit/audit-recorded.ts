import { findClient } from '../client/client-store.ts'
import type { SettlementId } from '../ids.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import { noteFound, tellStanding } from '../verdict/note-found.ts'
import { claimAudit, noteAudited, readSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import type { RunDeps } from './audit-client.ts'
import { settlementPart } from './audit-parts.ts'
import { believed } from './believed.ts'
import { readClientBooks } from './judged/client-books.ts'

/** After a worker's death another one follows this much later. */
const CLAIM_MS = 10 * MINUTE_MS
const AGAIN_MS = MINUTE_MS

/**
 * Audits a settlement a minute after it was recorded; only then it may be paid out (design sections 4 and 11).
 * Differences stand on its client. Safe to repeat: the claim moves the due time forward.
 */
export const auditRecorded = async (deps: RunDeps, settlementId: SettlementId): Promise<void> => {
  const verdict = await readSettlementVerdict(deps, settlementId)
  if (verdict?.dueAt === undefined || verdict.dueAt > deps.now()) return
  if (!(await claimAudit(deps, verdict, addMs(deps.now(), CLAIM_MS)))) return
  const client = await findClient(deps, verdict.clientId)
  if (client === undefined) return
  const { key, judge } = settlementPart(deps, await readClientBooks(deps, client), settlementId)
  const { differences, isInconclusive } = await believed(deps, judge)
  const at = deps.now()
  if (!isInconclusive) {
    const standing = await noteFound(deps, verdict.clientId, new Map([[key, differences]]), undefined)
    // Other standing differences were reported when they were found, and the daily audit checks them again.
    const ofSettlement = standing.filter(({ part }) => part === key)
    await tellStanding(deps, verdict.clientId, ofSettlement)
  }
  const state = isInconclusive ? 'inconclusive' : 'audited'
  await deps.table.write(noteAudited(settlementId, { state, at, againAt: addMs(at, AGAIN_MS) }))
  deps.log.info('audit.completed', { client_id: verdict.clientId, balanced: String(differences.length === 0) })
}
