import type { Deps } from '../deps.ts'
import { ClientIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { alertDifferences, recordFindings } from '../verdict/client-verdict-store.ts'
import { confirmedDifferences, type HouseDifference } from '../verdict/difference.ts'
import { REGISTER, SUSPENSE } from './audit-parts.ts'
import { auditHouse } from './judged/audit-house.ts'
import { auditRegister } from './judged/audit-registers.ts'

type GatewayDeps = Pick<Deps, 'table' | 'alerts' | 'sleep' | 'now' | 'log'>

export const GATEWAY_SUBJECT = 'gateway'

/**
 * Audits the house journal, all suspense and the register of clients, daily. Differences of one
 * client also stand on that client.
 */
export async function auditGateway(deps: GatewayDeps): Promise<void> {
  const house = await confirmedDifferences(deps, () => auditHouse(deps))
  const register = await confirmedDifferences(deps, () => auditRegister(deps))
  await recordOnClients(deps, SUSPENSE, house.differences)
  await recordOnClients(deps, REGISTER, register.differences)
  const differences = [...register.differences, ...house.differences]
  deps.log.info('audit.completed', {
    client_id: GATEWAY_SUBJECT,
    balanced: String(differences.length === 0),
  })
  await alertDifferences(deps, GATEWAY_SUBJECT, differences)
}

async function recordOnClients(
  deps: GatewayDeps,
  part: string,
  differences: readonly HouseDifference[],
): Promise<void> {
  for (const [owner, owned] of Map.groupBy(differences, ({ clientId }) => clientId)) {
    const clientId = ifValid(ClientIdSchema, owner)
    const found = owned.map(({ clientId: _owner, ...difference }) => difference)
    if (clientId) await recordFindings(deps, clientId, new Map([[part, found]]), undefined)
  }
}
