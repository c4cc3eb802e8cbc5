import type { Client } from '../client/client.ts'
import { transact } from '../table/write.ts'
import { newSettlementId, recordAudit, type SettleDeps, type SettleTrigger } from './new-settlement.ts'
import type { Settlement } from './settlement.ts'
import { findAnySettlement, recordStep } from './settlement-store.ts'
import { readWindow, redrawStep } from './window-store.ts'

/** A window keeps few recredited settlements; the rest of a pathological set waits for the next run. */
const MOST_AT_ONCE = 100

const rerecord = async (
  deps: SettleDeps,
  client: Client,
  failed: Settlement,
  trigger: SettleTrigger,
): Promise<Settlement | undefined> => {
  const now = deps.now()
  const settlement: Settlement = {
    ...failed,
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
  const { applied } = await transact(deps, {
    window: redrawStep(client.clientId, failed.settlementId, failed.netMinor, now),
    settlement: recordStep(settlement),
    audit: trigger.by === 'manual' ? recordAudit(deps, settlement, trigger.operator) : undefined,
  })
  return applied ? settlement : undefined
}

/**
 * Records recredited settlements again: same window, same sums, the floor checked anew. Each recredit is drawn from
 * available once; a second caller finds it gone and does nothing.
 */
export const rerecordSettlements = async (
  deps: SettleDeps,
  client: Client,
  trigger: SettleTrigger,
): Promise<readonly Settlement[]> => {
  const { recreditedIds } = await readWindow(deps, client.clientId)
  const recorded: Settlement[] = []
  for (const id of [...(recreditedIds ?? [])].toSorted().slice(0, MOST_AT_ONCE)) {
    const failed = await findAnySettlement(deps, id)
    if (failed.netMinor <= client.settlementFloorMinor) continue
    const settlement = await rerecord(deps, client, failed, trigger)
    if (settlement) recorded.push(settlement)
  }
  return recorded
}
