import { expect } from 'vitest'
import { auditLedger } from '../../shared/audit/audit-ledger.ts'
import type { Deps } from '../../shared/deps.ts'
import type { ClientId } from '../../shared/ids.ts'

/** The full audit of a client's books finds nothing. The last line of every test that moves money. */
export const expectBalanced = async (deps: Deps, clientId: ClientId): Promise<void> => {
  expect(await auditLedger(deps, clientId, { full: true })).toStrictEqual({ balanced: true, differences: [] })
}
