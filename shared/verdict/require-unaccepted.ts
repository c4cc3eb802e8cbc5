import type { TableDeps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { ifValid } from '../if-valid.ts'
import type { Approvable } from '../operator/approval-store.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { unacceptedDifferences } from './acceptances.ts'
import { readClientVerdict } from './client-verdict-store.ts'
import { DifferenceSchema, isSame } from './difference.ts'

/**
 * Throws 422 for the approval of a difference that is accepted: it would replace the approval by
 * whose use the acceptance counts.
 */
export async function requireUnaccepted(
  deps: TableDeps,
  { action, payload }: Approvable,
): Promise<void> {
  // In a payload an absent member and null are the same.
  const difference = ifValid(DifferenceSchema, { expected: null, found: null, ...payload })
  if (action !== 'accept-difference' || difference === undefined) return
  const owner = String(payload['client_id'] ?? GATEWAY_OWNER)
  const { standing } = await readClientVerdict(deps, owner)
  const named = standing.filter((one) => isSame(one, difference))
  if (named.length === 0 || (await unacceptedDifferences(deps, owner, named)).length > 0) return
  throw invalid(
    'this difference is accepted already',
    undefined,
    'It needs no further approval: it refuses no payout while its gap stays as it is.',
  )
}
