import { GatewayError } from '../errors.ts'
import { type AuditHead, recordChange } from '../operator/audit-record-store.ts'
import { BATCHES_SUBJECT, type Batch, MOST_LINES } from '../settlement/batch/batch.ts'
import { findBatch, openBatch } from '../settlement/batch/batch-store.ts'
import type { BatchDeps } from './fill-batch.ts'
import type { Payout } from './judge-payouts.ts'

/**
 * Opens the batch after the last, with the settlements that it is to claim. Throws 409 if another
 * operator opened one meanwhile: its batch is finished by the next call.
 */
export async function openNextBatch(
  deps: BatchDeps,
  last: AuditHead | undefined,
  { payouts, operator }: { readonly payouts: readonly Payout[]; readonly operator: string },
): Promise<Batch> {
  const row = {
    number: (last?.number ?? 0) + 1,
    settlementIds: payouts.slice(0, MOST_LINES).map(({ settlement }) => settlement.settlementId),
    createdAt: deps.now(),
  }
  const { number, settlementIds, createdAt } = row
  const record = {
    subject: BATCHES_SUBJECT,
    clientId: undefined,
    operator,
    action: 'payout-file',
    after: { batch: number, created_at: createdAt, count: settlementIds.length },
    head: { last },
  }
  const outcome = await recordChange(deps, record, { batch: openBatch(row) })
  if (outcome.applied) return { ...row, state: 'open', isBroken: false, last: undefined }
  // A restore may bring back a batch without its place in the register: the next call finds it.
  if (outcome.refusedBy === 'batch') {
    const stored = await findBatch(deps, number)
    const count = stored.settlementIds?.length
    const after = { batch: number, created_at: stored.createdAt ?? createdAt, count }
    await recordChange(deps, { ...record, after }, {})
  }
  throw new GatewayError('conflict', 'another operator makes a payout file; try again')
}
