import { tellStanding } from '../verdict/note-found.ts'
import type { RunDeps } from './audit-client.ts'
import { believed } from './believed.ts'
import { auditHouse } from './judged/audit-house.ts'

/** Findings without a client are reported under this name. */
const SUBJECT = 'gateway'

/** Audits the house journal and all suspense, daily. Reports what it finds each day until it is gone. */
export const auditGateway = async (deps: RunDeps): Promise<void> => {
  const { differences } = await believed(deps, async () => {
    const found = await auditHouse(deps)
    return found === 'moving' ? found : found.map(({ difference }) => difference)
  })
  deps.log.info('audit.completed', { client_id: SUBJECT, balanced: String(differences.length === 0) })
  await tellStanding(deps, SUBJECT, differences)
}
