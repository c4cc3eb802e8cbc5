import { expect } from 'vitest'
import { handler as acceptAction } from '../../functions/admin/accept-difference.ts'
import { auditLedger } from '../../shared/audit/audit-client.ts'
import type { ClientId } from '../../shared/ids.ts'
import { invokeAdmin, OPERATOR } from './operator-actions.ts'
import { withoutSleep } from './settlement-builders.ts'
import type { TestDeps } from './test-deps.ts'

/** Finance accepts each difference of a client, of which there are some. */
export async function acceptEach(deps: TestDeps, clientId: ClientId): Promise<void> {
  const { differences } = await auditLedger(withoutSleep(deps), clientId)
  expect(differences).not.toStrictEqual([])
  deps.clock.advance(1)
  for (const one of differences) {
    const input = { operator: OPERATOR, client_id: clientId, ...one, notes: 'known' }
    const accepted = await invokeAdmin(acceptAction, deps, input)
    expect(accepted, JSON.stringify(accepted)).toMatchObject({ status: 200 })
  }
}
