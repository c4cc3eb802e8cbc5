import { invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import type { SettleDeps } from './new-settlement.ts'
import { type SettleResult, settleClient } from './settle-client.ts'

export type Triggered = Pick<SettleResult, 'settlements' | 'summedUntil'>

/**
 * An operator's manual trigger: the same rules and the same floor as the sweep (spec 3.2, rule 4). Nothing to settle is
 * a refusal that says what is eligible and what the floor is. `summedUntil`: the window is larger than one run, and is
 * settled in the operator's name by those that follow.
 */
export const triggerSettlement = async (
  deps: SettleDeps,
  input: { readonly clientId: ClientId; readonly operator: string },
): Promise<Triggered> => {
  const result = await settleClient(deps, input.clientId, { by: 'manual', operator: input.operator })
  if (result.settlements.length > 0 || result.summedUntil !== undefined) return result
  const waiting =
    result.waitingMinor === 0
      ? ''
      : ` ${result.waitingMinor} IDR recredited from failed settlements wait because none of these exceeds the floor.`
  throw invalid(
    `nothing to settle: ${result.eligibleMinor} IDR are eligible, the floor is ${result.floorMinor} IDR and must be exceeded`,
    undefined,
    `Payments are eligible 24 hours after they succeeded.${heldText(result, deps.now())}${waiting}`,
  )
}

/** What waits for fees passes by itself: from when on, and what can be done before. */
const heldText = ({ heldSince, heldUntil }: SettleResult, now: Timestamp): string => {
  if (heldSince === undefined || heldUntil === undefined) return ''
  const waiting = ` Payments from ${heldSince} on wait for the provider's actual fee`
  return heldUntil > now
    ? `${waiting}; sync-provider-transactions asks for it. The first passes on ${heldUntil} at the latest, each later one seven days after it was paid.`
    : `${waiting}; the first passes since ${heldUntil}, as soon as the provider can be asked once more: try again.`
}
