import { invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { SettleDeps } from './new-settlement.ts'
import { settleClient } from './settle-client.ts'
import type { Settlement } from './settlement.ts'

/**
 * An operator's manual trigger: the same rules and the same floor as the sweep (spec 3.2, rule 4). Nothing to settle is
 * a refusal that says what is eligible and what the floor is.
 */
export const triggerSettlement = async (
  deps: SettleDeps,
  input: { readonly clientId: ClientId; readonly operator: string },
): Promise<readonly Settlement[]> => {
  const result = await settleClient(deps, input.clientId, { by: 'manual', operator: input.operator })
  if (result.settlements.length > 0) return result.settlements
  const held =
    result.heldSince === undefined
      ? ''
      : ` Payments from ${result.heldSince} on wait for the provider's actual fee; sync-provider-transactions asks for it.`
  const waiting =
    result.waitingMinor === 0
      ? ''
      : ` ${result.waitingMinor} IDR recredited from failed settlements wait because none of these exceeds the floor.`
  throw invalid(
    `nothing to settle: ${result.eligibleMinor} IDR are eligible, the floor is ${result.floorMinor} IDR and must be exceeded`,
    undefined,
    `Payments are eligible 24 hours after they succeeded.${held}${waiting}`,
  )
}
