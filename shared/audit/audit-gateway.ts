import type { Deps } from '../deps.ts'
import { ClientIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { closeHouseDays } from '../journal/house-store.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { alertDifferences, recordFindings } from '../verdict/client-verdict-store.ts'
import {
  auditAnswer,
  confirmedDifferences,
  type Difference,
  type HouseDifference,
} from '../verdict/difference.ts'
import { REGISTER, SUSPENSE } from './audit-parts.ts'
import { auditHouse } from './judged/audit-house.ts'
import { auditRegister } from './judged/audit-registers.ts'

/**
 * Audits the house journal, all suspense and the register of clients, daily or for an operator.
 * Differences of one client stand on that client. The others stand on the gateway, and refuse no
 * payout. First it closes the days of the house journal that are over.
 */
export async function auditGateway(deps: Pick<Deps, 'table' | 'alerts' | 'sleep' | 'now' | 'log'>) {
  await closeHouseDays(deps)
  const parts = [
    [SUSPENSE, await confirmedDifferences(deps, () => auditHouse(deps))],
    [REGISTER, await confirmedDifferences(deps, () => auditRegister(deps))],
  ] as const
  const open: Difference[] = []
  for (const [part, { differences, isInconclusive }] of parts) {
    if (isInconclusive) continue
    const byOwner = Map.groupBy(differences, ownerOf)
    for (const owner of new Set([GATEWAY_OWNER, ...byOwner.keys()])) {
      const found = (byOwner.get(owner) ?? []).map(withoutClient)
      const standing = await recordFindings(deps, owner, new Map([[part, found]]), undefined)
      open.push(...standing.filter((one) => one.part === part))
    }
  }
  deps.log.info('audit.completed', {
    client_id: GATEWAY_OWNER,
    balanced: String(open.length === 0),
  })
  await alertDifferences(deps, GATEWAY_OWNER, open)
  return auditAnswer(
    parts.flatMap(([, { differences }]) => differences.map(withoutClient)),
    parts.some(([, { isInconclusive }]) => isInconclusive),
  )
}

function ownerOf({ clientId }: HouseDifference): string {
  return ifValid(ClientIdSchema, clientId) ?? GATEWAY_OWNER
}

function withoutClient({ what, id, expected, found }: HouseDifference): Difference {
  return { what, id, expected, found }
}
