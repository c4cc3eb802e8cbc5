import { requireClient } from '../client/client-store.ts'
import type { ClientId } from '../ids.ts'
import { MINUTE_MS } from '../time.ts'
import { noteFound } from '../verdict/client-verdict-store.ts'
import { type Difference, MAX_DIFFERENCES } from '../verdict/difference.ts'
import { ALL_SLICES, type AuditDeps, judgeParts, type Part, partsOf } from './audit-parts.ts'
import { auditHouse } from './judged/audit-house.ts'

/** After this time a run begins no part and no second look, which may wait two minutes: its function has five. */
const RUN_MS = 2.5 * MINUTE_MS

export type AuditResult = {
  readonly balanced: boolean | 'inconclusive'
  readonly differences: readonly Difference[]
}

/** The items in suspense of a client's own payments. */
const suspensePart = (deps: AuditDeps, clientId: ClientId): Part => ({
  key: 'suspense',
  judge: async () => {
    const found = await auditHouse(deps)
    if (found === 'moving') return found
    return found.flatMap((one) => (one.clientId === clientId ? [one.difference] : []))
  },
})

/**
 * Audits a whole client now and lists every difference (design section 4, "Audit"). Inconclusive: its books moved
 * during the read, or are more than one run can read; the daily audit reads those in slices. Differences stand on the
 * client until they are gone. Changes no money. Throws 404 for an unknown client.
 */
export const auditLedger = async (deps: AuditDeps, clientId: ClientId): Promise<AuditResult> => {
  const client = await requireClient(deps, clientId)
  const parts = [...(await partsOf(deps, client, ALL_SLICES)), suspensePart(deps, clientId)]
  const { found, isInconclusive } = await judgeParts(deps, parts, { runMs: RUN_MS, mostParts: parts.length })
  await noteFound(deps, clientId, found, undefined)
  const differences = [...found.values()].flat()
  const balanced = differences.length > 0 ? false : isInconclusive ? ('inconclusive' as const) : true
  return { balanced, differences: differences.slice(0, MAX_DIFFERENCES) }
}
