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
import { REGISTER, REGISTERED, SUSPENSE } from './history.ts'
import { auditHouse } from './judged/audit-house.ts'
import { auditRegister } from './judged/audit-registers.ts'

/**
 * Audits the house journal, all suspense and the register of clients, daily or for an operator.
 * Differences of one client stand on that client. The others stand on the gateway, and refuse no
 * payout. First it closes the days of the house journal that are over.
 */
export async function auditGateway(deps: Pick<Deps, 'table' | 'alerts' | 'sleep' | 'now' | 'log'>) {
  await closeHouseDays(deps)
  const figuresAt = deps.now()
  const house = await confirmedDifferences(deps, () => auditHouse(deps))
  const register = await confirmedDifferences(deps, () => auditRegister(deps))
  const [ofHouse, ofRegister] = [house, register].map((all) => Map.groupBy(all, ownerOf))
  for (const owner of new Set([...house, ...register].map(ownerOf)).add(GATEWAY_OWNER)) {
    const isGateway = owner === GATEWAY_OWNER
    // A part of a client without a finding is left to the client's own audit.
    const findings = new Map(
      [
        [SUSPENSE, ofHouse?.get(owner) ?? []] as const,
        [isGateway ? REGISTER : REGISTERED, ofRegister?.get(owner) ?? []] as const,
      ]
        .filter(([, found]) => isGateway || found.length > 0)
        .map(([part, found]) => [part, found.map(withoutClient)]),
    )
    const changed = isGateway ? { figuresAt } : {}
    await alertDifferences(deps, owner, await recordFindings(deps, owner, findings, changed))
  }
  deps.log.info('audit.completed', { client_id: GATEWAY_OWNER, audit_of: 'gateway' })
  return auditAnswer([...house, ...register].map(withoutClient), false)
}

function ownerOf({ clientId }: HouseDifference): string {
  return ifValid(ClientIdSchema, clientId) ?? GATEWAY_OWNER
}

function withoutClient({ what, id, expected, found }: HouseDifference): Difference {
  return { what, id, expected, found }
}
