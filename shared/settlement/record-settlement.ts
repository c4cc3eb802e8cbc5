import type { Deps } from '../deps.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import type { Step } from '../table/step.ts'
import type { SettleDeps, SettleTrigger } from './new-settlement.ts'
import type { Settlement } from './settlement.ts'
import { recordStep } from './settlement-store.ts'

/**
 * Writes a settlement with the step of the window that it is taken from, and an operator's record where one asked for
 * it: all or none. Undefined when the window, or what it replaces, has moved.
 */
export const recordSettlement = async (
  deps: SettleDeps,
  settlement: Settlement,
  { window, replaced }: { readonly window: Step; readonly replaced?: Step },
  trigger: SettleTrigger,
): Promise<Settlement | undefined> => {
  const steps = { window, replaced, settlement: recordStep(settlement) }
  const { applied } =
    trigger.by === 'manual'
      ? await recordChange(deps, triggerRecord(settlement, trigger), steps)
      : await deps.table.transact(steps)
  if (!applied) return undefined
  logRecorded(deps, settlement)
  return settlement
}

/** The line about a settlement that now waits for its payout, and a warning when it says not where to. Amounts in IDR. */
const logRecorded = ({ log }: Pick<Deps, 'log'>, settlement: Settlement): void => {
  const { settlementId: settlement_id, clientId: client_id } = settlement
  // Nobody can pay it out as it is; operators see the same in their lists.
  if (settlement.bank === undefined) log.warn('settlement.without_bank', { settlement_id, client_id })
  log.info('settlement.recorded', {
    settlement_id,
    client_id,
    payments: settlement.paymentCount,
    net_minor: settlement.netMinor,
    triggered_by: settlement.triggeredBy,
  })
}

/** The audit record of an operator's trigger, which runs behind the first one go on with in the operator's name. */
const triggerRecord = (
  settlement: Settlement,
  { operator, requestId }: Extract<SettleTrigger, { readonly by: 'manual' }>,
) => ({
  subject: settlement.settlementId,
  clientId: settlement.clientId,
  operator,
  requestId,
  action: 'trigger-settlement',
  after: { status: settlement.status, net_minor: settlement.netMinor, client_id: settlement.clientId },
})
