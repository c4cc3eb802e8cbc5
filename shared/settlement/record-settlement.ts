import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { SettlementIdSchema, timeOrderedUuid } from '../ids.ts'
import { assertBalanced } from '../journal/entry.ts'
import { sweepWindow, type Window } from '../ledger/window-store.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { AssumeDeps } from '../posting/assume-fee.ts'
import { epochMs, type Timestamp } from '../time.ts'
import { newSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import type { Settlement } from './settlement.ts'
import { findSettlements, recordStep } from './settlement-store.ts'
import type { EntrySums, SumDeps } from './sum-entries.ts'

export type SettleDeps = AssumeDeps &
  SumDeps &
  RecordDeps &
  Pick<Deps, 'stage' | 'table' | 'queues' | 'randomBytes' | 'now' | 'log'>

/** `operator` is present for a manual trigger, and then the audit record is too. */
export type SettleTrigger =
  | { readonly by: 'auto' }
  /** `requestId`: of the operator's invocation; later runs continue in the operator's name. */
  | { readonly by: 'manual'; readonly operator: string; readonly requestId?: string | undefined }

type SummedUp = {
  readonly client: Client
  readonly window: Window
  readonly end: Timestamp
  readonly sums: EntrySums
}

/** The settlement of a summed window, with the present bank details (spec 2.3). Its id is chosen here. */
const newSettlement = (
  deps: SettleDeps,
  { client, window, end, sums }: SummedUp,
  triggeredBy: Settlement['triggeredBy'],
): Settlement => {
  const now = deps.now()
  return {
    settlementId: v.parse(SettlementIdSchema, timeOrderedUuid(epochMs(now), deps.randomBytes(10))),
    clientId: client.clientId,
    sweptFrom: window.settledUntil,
    sweptUntil: end,
    ...sums,
    currency: 'IDR',
    status: 'recorded',
    triggeredBy,
    previousId: window.lastSettlementId,
    bank: client.bank,
    createdAt: now,
  }
}

/**
 * Writes the settlement of a summed window, moves the window over its entries and, for a manual trigger, adds the
 * operator's record, in one transaction. Undefined when another settlement has moved the window. After a lost answer it
 * is found by its id.
 */
export const recordSettlement = async (deps: SettleDeps, summed: SummedUp, trigger: SettleTrigger) => {
  const settlement = newSettlement(deps, summed, trigger.by)
  assertBalanced({ ...settlement, feeMinor: settlement.providerFeesMinor })
  const { clientId, settlementId, status, netMinor } = settlement
  const steps = {
    window: sweepWindow(settlement),
    settlement: recordStep(settlement),
    verdict: newSettlementVerdict(settlement),
  }
  const after = { status, net_minor: netMinor, client_id: clientId }
  const { applied } =
    trigger.by === 'manual'
      ? await recordChange(
          deps,
          { ...trigger, subject: settlementId, clientId, action: 'trigger-settlement', after },
          steps,
        )
      : await deps.table.transact(steps)
  if (!applied && (await findSettlements(deps, [settlementId])).length === 0) return undefined
  logRecorded(deps, settlement)
  return settlement
}

/** Logs a settlement that waits for its payout, and warns when it has no bank details. Amounts in IDR. */
const logRecorded = ({ log }: Pick<Deps, 'log'>, settlement: Settlement): void => {
  const { settlementId: settlement_id, clientId: client_id } = settlement
  if (settlement.bank === undefined) log.warn('settlement.without_bank', { settlement_id, client_id })
  log.info('settlement.recorded', {
    settlement_id,
    client_id,
    payments: settlement.paymentCount,
    net_minor: settlement.netMinor,
    triggered_by: settlement.triggeredBy,
  })
}
