import { invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { getBalance } from '../ledger/balance.ts'
import { less } from '../money.ts'
import type { SettleDeps } from './new-settlement.ts'
import { settleClient } from './settle-client.ts'
import type { Settlement } from './settlement.ts'

export type Triggered = {
  readonly settlement: Settlement | undefined
  /** The window is too large for one run: later runs settle it in the operator's name. */
  readonly isContinuing: boolean
}

/**
 * Settles a client at an operator's request, by the same rules and floor as the sweep (spec 3.2, rule 4). Throws 422
 * when there is nothing to settle, with the eligible and open amounts and the floor, and in a closed stage.
 */
export const triggerSettlement = async (
  deps: SettleDeps,
  input: { readonly clientId: ClientId; readonly operator: string },
): Promise<Triggered> => {
  if (deps.stage.isClosed === true) {
    throw invalid('the stage is closed', undefined, 'Recount the ledgers, and open the stage first.')
  }
  const { settlement, isContinuing, eligibleMinor, floorMinor } = await settleClient(deps, input.clientId, {
    by: 'manual',
    operator: input.operator,
  })
  if (settlement || isContinuing) return { settlement, isContinuing }
  const { pendingMinor, availableMinor } = await getBalance(deps, input.clientId)
  const openMinor = less(pendingMinor, less(eligibleMinor, availableMinor))
  throw invalid(
    `nothing to settle: ${eligibleMinor} IDR are eligible, the floor is ${floorMinor} IDR and must be exceeded`,
    undefined,
    openMinor === 0
      ? 'Nothing else is open.'
      : `${openMinor} IDR are not eligible yet: a payment is, 24 hours after it was paid and once the provider has settled it. get-books shows what is open.`,
  )
}
