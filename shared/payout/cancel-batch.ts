import { GatewayError, invalid, notFound } from '../errors.ts'
import { requireApproval } from '../operator/approval-store.ts'
import { readAuditRecords, recordChange } from '../operator/audit-record-store.ts'
import { BATCHES_SUBJECT, type Batch, batchSubject } from '../settlement/batch/batch.ts'
import {
  findBatch,
  markCancelled,
  openedBatches,
  putInPlace,
  settlementItemsIn,
} from '../settlement/batch/batch-store.ts'
import type { BatchDeps } from './fill-batch.ts'

/**
 * Frees the settlements of a batch whose file no bank was given. Only a person knows that, so it
 * needs an approval, and is refused once a payout of it is paid. A batch whose row is lost or
 * unreadable can be cancelled too.
 */
export async function cancelBatch(
  deps: BatchDeps,
  {
    number,
    operator,
    notes,
  }: { readonly number: number; readonly operator: string; readonly notes: string },
): Promise<Batch> {
  const stored = await findBatch(deps, number)
  const createdAt = stored?.createdAt ?? (await openedAt(deps, number))
  if (createdAt === undefined) throw notFound('batch')
  if (stored) await assertUnused(deps, stored)
  const approval = await requireApproval(deps, {
    action: 'payout-file',
    payload: { cancel: number },
  })
  const cancelled: Batch = {
    ...(stored ?? { number, settlementIds: [], createdAt }),
    state: 'cancelled',
  }
  const record = {
    subject: batchSubject(number),
    clientId: undefined,
    operator,
    action: 'payout-file',
    ...(stored && { before: { state: stored.state } }),
    after: { state: 'cancelled', notes, approved: approval.shown },
  }
  const outcome = await recordChange(deps, record, {
    batch: stored ? markCancelled(cancelled) : await putInPlace(deps, cancelled),
    approval: approval.step,
  })
  if (outcome.applied) return cancelled
  throw new GatewayError('conflict', `batch ${number} is cancelled already, or changed; try again`)
}

/**
 * Throws 422 if a payout of it is paid, which proves that a bank has its file. An unreadable row
 * counts too, because only two of its fields are read.
 */
async function assertUnused(deps: BatchDeps, batch: Batch): Promise<void> {
  const settlements = await settlementItemsIn(deps, batch)
  const paid = settlements.filter(
    (one) => one['batch'] === batch.number && one['status'] === 'manual_paid',
  )
  if (paid.length === 0) return
  const hint = 'Its file is at the bank. payout-answer or mark-settlement-failed closes the others.'
  const count = `${paid.length} of its ${settlements.length} payouts are paid`
  throw invalid(`batch ${batch.number} cannot be cancelled: ${count}`, undefined, hint)
}

async function openedAt(deps: BatchDeps, number: number) {
  return openedBatches((await readAuditRecords(deps, BATCHES_SUBJECT)).records).get(number)
}
