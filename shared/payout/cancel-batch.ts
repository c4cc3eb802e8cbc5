import { conflict, invalid, notFound, refused } from '../errors.ts'
import { requireApproval } from '../operator/approval-store.ts'
import { readAuditRecords, recordChange } from '../operator/audit-record-store.ts'
import { ANSWER_HINT, BATCHES_SUBJECT, type Batch, batchRecord } from '../settlement/batch/batch.ts'
import { findBatch, openedBatches, putWithoutList } from '../settlement/batch/batch-store.ts'
import type { BatchDeps } from './fill-batch.ts'

/**
 * Frees the settlements of a batch whose file no bank was given. Only a person knows that, so it
 * needs an approval, and is refused once a bank is known to have the file. A batch whose list is
 * lost can be cancelled again: its row is written anew, without the list.
 */
export async function cancelBatch(
  deps: BatchDeps,
  {
    number,
    operator,
    notes,
  }: { readonly number: number; readonly operator: string; readonly notes: string },
): Promise<Batch> {
  const batch = await findBatch(deps, number)
  const { state, usedAt, isBroken, settlementIds } = batch
  const createdAt =
    batch.createdAt ??
    openedBatches((await readAuditRecords(deps, BATCHES_SUBJECT)).records).get(number)
  if (createdAt === undefined) throw notFound('batch')
  const isLost = settlementIds === undefined
  const isAgain = state === 'cancelled' && isLost
  if (isBroken || (usedAt !== undefined && !isAgain)) {
    const why = isBroken ? 'its records are no complete chain' : 'its file is in use'
    throw refused(`batch ${number} cannot be cancelled: ${why}`, ANSWER_HINT)
  }
  if (state === 'cancelled' && !isAgain) throw invalid(`batch ${number} is cancelled already`)
  const approval = await requireApproval(deps, {
    action: 'payout-file',
    payload: { cancel: number },
  })
  const after = { state: 'cancelled', notes, approved: approval.shown }
  // A use of its file that is recorded meanwhile refuses this change.
  const record = { ...batchRecord(batch, operator, 'payout-file', after), before: { state } }
  const row = isLost ? putWithoutList({ number, createdAt }) : undefined
  const { applied } = await recordChange(deps, record, { row, approval: approval.step })
  if (applied) return { ...batch, state: 'cancelled', createdAt }
  throw conflict(`batch ${number} changed meanwhile; try again`)
}
