import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import type { Steps, TransactOutcome } from '../table/table.ts'
import { closeStep, findAnySettlement } from './close-store.ts'
import type { Settlement } from './settlement.ts'

export type CloseDeps = Pick<Deps, 'stage' | 'table' | 'now' | 'newId' | 'log' | 'invocation'>

/** The steps that a settlement in this state still allows. */
const nextStep = ({ status, recreditedAt }: Settlement): string => {
  switch (status) {
    case 'recorded':
      return 'Only a failed settlement can be recredited: mark-settlement-failed first.'
    case 'manual_paid':
      return 'It is paid out, which is final; list-settlements shows it.'
    case 'failed':
      return recreditedAt === undefined
        ? 'It has failed, which is final; recredit-settlement makes its funds available again.'
        : 'It has failed, which is final, and its funds are available again; the next settlement has them.'
  }
}

export const wrongState = (action: string, settlement: Settlement) =>
  invalid(`settlement cannot be ${action} in status=${settlement.status}`, undefined, nextStep(settlement))

export const statusRecord = ({ status, settledAt, recreditedAt }: Settlement) => ({
  status,
  settled_at: settledAt ?? null,
  recredited_at: recreditedAt ?? null,
})

type ClosedBy = { readonly operator: string; readonly action: string; readonly noted?: object }

/**
 * Writes a settlement's end, its audit record and further steps in one transaction. Throws 422 when another operator
 * has closed it; answers another step's refusal.
 */
export const closeSettlement = async <Name extends string>(
  deps: CloseDeps,
  { before, after, by }: { readonly before: Settlement; readonly after: Settlement; readonly by: ClosedBy },
  steps: Steps<Name>,
): Promise<TransactOutcome<Name | 'settlement'>> => {
  const record = {
    subject: before.settlementId,
    clientId: before.clientId,
    operator: by.operator,
    action: by.action,
    before: statusRecord(before),
    after: { ...statusRecord(after), notes: after.notes ?? null, ...by.noted },
  }
  const outcome = await recordChange<Name | 'settlement'>(deps, record, { ...steps, settlement: closeStep(after) })
  if (!outcome.applied && outcome.refusedBy === 'settlement') {
    throw wrongState('closed', await findAnySettlement(deps, before.settlementId))
  }
  if (outcome.applied) deps.log.info('settlement.closed', { settlement_id: after.settlementId, status: after.status })
  return outcome
}

export type Close = { readonly settlementId: string; readonly operator: string }

/**
 * Moves a settlement from `recorded` to `failed`: the bank refused the transfer. It re-credits nothing (spec 3.2).
 * Terminal.
 */
export const markSettlementFailed = async (deps: CloseDeps, input: Close & { readonly notes: string }) => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  if (settlement.status !== 'recorded') throw wrongState('marked failed', settlement)
  const failed: Settlement = { ...settlement, status: 'failed', notes: input.notes }
  const by = { operator: input.operator, action: 'mark-settlement-failed' }
  await closeSettlement(deps, { before: settlement, after: failed, by }, {})
  return failed
}
