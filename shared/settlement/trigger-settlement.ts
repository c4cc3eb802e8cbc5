import { invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { getBalance } from '../ledger/balance.ts'
import { less } from '../money.ts'
import type { SettleDeps } from './new-settlement.ts'
import { settleClient } from './settle-client.ts'
import type { Settlement } from './settlement.ts'

export type Triggered = {
  readonly settlement: Settlement | undefined
  /** The window is larger than one run: later runs settle it in the operator's name. */
  readonly isContinuing: boolean
}

/**
 * An operator's manual trigger: the same rules and the same floor as the sweep (spec 3.2, rule 4). Nothing to settle is
 * a 422 that says what is eligible, what is open, and what the floor is; so is a closed stage.
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
