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
 * payout. First it closes the days of the house journal that are over. Throws at the end if the
 * findings of an owner were not recorded; that stops no other owner.
 */
export async function auditGateway(deps: Pick<Deps, 'table' | 'alerts' | 'sleep' | 'now' | 'log'>) {
  await closeHouseDays(deps)
  const figuresAt = deps.now()
  const house = await confirmedDifferences(deps, () => auditHouse(deps))
  const register = await confirmedDifferences(deps, () => auditRegister(deps))
  const [ofHouse, ofRegister] = [house, register].map((all) => Map.groupBy(all, ownerOf))
  const failures: unknown[] = []
  // Payouts of all clients wait for the gateway's own verdict, so it is the first.
  for (const owner of new Set([GATEWAY_OWNER, ...[...house, ...register].map(ownerOf)])) {
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
    await recordFindings(deps, owner, findings, changed)
      .then((recorded) => alertDifferences(deps, owner, recorded))
      .catch((cause: unknown) => failures.push(cause))
  }
  // The retry of the message records them again.
  if (failures.length > 0) {
    const [cause] = failures
    throw new Error(`the findings of ${failures.length} owners were not recorded`, { cause })
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
