import { requireClient } from '../client/client-store.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { changeClientVerdict, readClientVerdict } from './client-verdict-store.ts'
import { type Difference, isIdentical } from './difference.ts'

type AcceptInput = Readonly<{
  clientId: ClientId
  difference: Difference
  operator: string
  notes: string
}>

const TRIES = 5

/**
 * Accepts a difference that finance has explained: it no longer refuses payouts (design section 4,
 * "Audit"). The acceptance ends when the difference's figures change. A repeat is harmless. Throws
 * 404 for an unknown client, and 422 when no such difference stands.
 */
export async function acceptDifference(
  deps: RecordDeps,
  { clientId, difference, operator, notes }: AcceptInput,
): Promise<Difference> {
  await requireClient(deps, clientId)
  for (let tried = 0; tried < TRIES; tried++) {
    const before = await readClientVerdict(deps, clientId)
    if (before.accepted.some((acceptance) => isIdentical(acceptance, difference))) return difference
    if (!before.standing.some((standing) => isIdentical(standing, difference))) {
      throw invalid(
        'this client has no such open difference',
        { id: ['what, id, expected and found must be exactly as the last audit found them'] },
        'Run audit-ledger and repeat with the figures exactly as it shows them.',
      )
    }
    const accepted = { ...difference, operator, notes, at: deps.now() }
    const after = { ...difference, notes }
    const record = { subject: clientId, clientId, operator, action: 'accept-difference', after }
    const { applied } = await recordChange(deps, record, {
      verdict: changeClientVerdict(clientId, before, {
        ...before,
        accepted: [...before.accepted, accepted],
      }),
    })
    if (applied) return difference
  }
  throw new GatewayError(
    'conflict',
    'this client is being audited right now; try again in a minute',
  )
}
