import type { Deps } from '../deps.ts'
import { conflict } from '../errors.ts'
import { liveBatchOf } from '../settlement/batch/batch-store.ts'
import {
  type CloseDeps,
  type CloseInput,
  closeSettlement,
  wrongStateError,
} from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findAnySettlement } from '../settlement/settlement-store.ts'
import { recordOfUse } from './note-use-of-file.ts'

/**
 * Moves a settlement from `recorded` to `failed`, once; else throws 422. Re-credits nothing (spec
 * 3.2). An open batch of the settlement gets a record, so that its file has no line of it.
 */
export async function markSettlementFailed(
  deps: CloseDeps & Pick<Deps, 'queues'>,
  { settlementId, operator, notes }: CloseInput & { readonly notes: string },
) {
  const before = await findAnySettlement(deps, settlementId)
  if (before.status !== 'recorded') throw wrongStateError('marked failed', before)
  const batch = await liveBatchOf(deps, before)
  const after: Settlement = { ...before, status: 'failed', notes }
  const action = { operator, action: 'mark-settlement-failed' }
  const secondRecord = recordOfUse(
    batch?.state === 'open' ? batch : undefined,
    { operator, outcome: 'failed' },
    { settlement_id: settlementId },
  )
  const { applied } = await closeSettlement(deps, { before, after, action, secondRecord }, {})
  if (!applied) throw conflict('this settlement was just changed; try again')
  return after
}
