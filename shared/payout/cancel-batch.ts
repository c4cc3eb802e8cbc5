import { GatewayError, invalid, notFound } from '../errors.ts'
import { requireApproval } from '../operator/approval-store.ts'
import { findAuditHead, readAuditRecords, recordChange } from '../operator/audit-record-store.ts'
import { BATCHES_SUBJECT, type Batch, batchSubject } from '../settlement/batch/batch.ts'
import {
  findBatch,
  markCancelled,
  openedBatches,
  putInPlace,
  settlementIdsIn,
  settlementItemsIn,
  stateIn,
} from '../settlement/batch/batch-store.ts'
import type { BatchDeps } from './fill-batch.ts'

/**
 * Frees the settlements of a batch whose file no bank was given. Only a person knows that, so it
 * needs an approval, and is refused once a payout of it is paid. A batch whose row is lost or
 * unreadable can be cancelled too. If it was cancelled before, its row is written anew as its
 * records say.
 */
export async function cancelBatch(
  deps: BatchDeps,
  {
    number,
    operator,
    notes,
  }: { readonly number: number; readonly operator: string; readonly notes: string },
): Promise<Batch> {
  const subject = batchSubject(number)
  const last = await findAuditHead(deps, subject)
  const stored = await findBatch(deps, number)
  const createdAt = stored?.createdAt ?? (await openedAt(deps, number))
  if (createdAt === undefined) throw notFound('batch')
  const said = stateIn((await readAuditRecords(deps, subject)).records)
  const usedAt = stored?.usedAt ?? said.usedAt
  if (stored || said.state !== 'cancelled') await assertUnused(deps, { number, ...stored, usedAt })
  const approval = await requireApproval(deps, {
    action: 'payout-file',
    payload: { cancel: number },
  })
  const cancelled: Batch = {
    ...(stored ?? { number, settlementIds: [], usedAt, createdAt }),
    state: 'cancelled',
  }
  const record = {
    subject,
    clientId: undefined,
    operator,
    action: 'payout-file',
    // A payout of it that is recorded meanwhile refuses this change.
    head: { last },
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
 * Throws 422 if a payout of it is paid, or its records say that the bank has answered to its file:
 * a bank has its file. An unreadable row counts too, because only some of its fields are read.
 */
async function assertUnused(
  deps: BatchDeps,
  { number, settlementIds, usedAt }: Pick<Batch, 'number'> & Partial<Batch>,
): Promise<void> {
  const ids = settlementIds ?? (await settlementIdsIn(deps, number))
  const settlements = await settlementItemsIn(deps, { settlementIds: ids })
  const paid = settlements.filter(
    (one) => one['batch'] === number && one['status'] === 'manual_paid',
  )
  if (paid.length === 0 && usedAt === undefined) return
  const hint = 'Its file is at the bank. payout-answer or mark-settlement-failed closes the others.'
  const why =
    paid.length === 0
      ? 'the bank has answered to its file'
      : `${paid.length} of its ${settlements.length} payouts are paid`
  throw invalid(`batch ${number} cannot be cancelled: ${why}`, undefined, hint)
}

async function openedAt(deps: BatchDeps, number: number) {
  return openedBatches((await readAuditRecords(deps, BATCHES_SUBJECT)).records).get(number)
}
