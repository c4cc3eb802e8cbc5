import type { Client } from '../client/client.ts'
import type { Window } from '../ledger/ledger-store.ts'
import { type Minor, plus, ZERO } from '../money.ts'
import { newSettlementId, type SettleDeps, type SettleTrigger } from './new-settlement.ts'
import { recordSettlement } from './record-settlement.ts'
import { NOTHING_REVERSED, remainingSums, type Settlement } from './settlement.ts'
import { checkReversedAsRead, findAnySettlement } from './settlement-store.ts'
import { redrawStep } from './window-store.ts'

/** Recredits are made by hand, so they are few; what is beyond this waits for the next run. */
const MOST_RECORDED_AT_ONCE = 100

export type Rerecorded = {
  readonly settlements: readonly Settlement[]
  /** What stays in available: the recredited settlements that do not exceed the floor. */
  readonly waitingMinor: Minor
}

/** Parts that went back stay in the sums: who pays out has to look at them again. */
const partsReversed = ({ reversedCount = 0, undoneCount = 0, reversedPaymentIds }: Settlement): number | undefined =>
  reversedCount - undoneCount - (reversedPaymentIds?.size ?? 0) || undefined

const rerecord = async (
  deps: SettleDeps,
  client: Client,
  failed: Settlement,
  trigger: SettleTrigger,
): Promise<Settlement | undefined> => {
  const now = deps.now()
  const settlement: Settlement = {
    ...failed,
    ...NOTHING_REVERSED,
    ...remainingSums(failed),
    reversedCount: partsReversed(failed),
    settlementId: newSettlementId(deps, now),
    status: 'recorded',
    triggeredBy: trigger.by,
    // Paid out again to where the client is registered now: the old details may be why it failed.
    bank: client.bank,
    notes: undefined,
    settledAt: undefined,
    recreditedAt: undefined,
    replaces: failed.settlementId,
    createdAt: now,
  }
  const { settlementId: failedId } = failed
  const { settlementId: id, netMinor: net } = settlement
  const window = redrawStep(client.clientId, { failedId, id, net, at: now })
  return recordSettlement(deps, settlement, { window, replaced: checkReversedAsRead(failed) }, trigger)
}

/**
 * Records recredited settlements again: same window, what remains of their sums, the floor checked anew. Each recredit
 * is drawn from available once; a second caller finds it gone and does nothing.
 */
export const rerecordSettlements = async (
  deps: SettleDeps,
  client: Client,
  { recreditedIds }: Pick<Window, 'recreditedIds'>,
  trigger: SettleTrigger,
): Promise<Rerecorded> => {
  const settlements: Settlement[] = []
  let waitingMinor = ZERO
  // Ids are time-ordered, and one that waits below the floor does not keep those behind it from their turn.
  for (const id of [...(recreditedIds ?? [])].toSorted()) {
    if (settlements.length === MOST_RECORDED_AT_ONCE) break
    const failed = await findAnySettlement(deps, id)
    const { netMinor } = remainingSums(failed)
    if (netMinor <= client.settlementFloorMinor) {
      waitingMinor = plus(waitingMinor, netMinor)
      continue
    }
    const settlement = await rerecord(deps, client, failed, trigger)
    if (settlement) settlements.push(settlement)
  }
  return { settlements, waitingMinor }
}
