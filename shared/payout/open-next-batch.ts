import { GatewayError } from '../errors.ts'
import { type AuditHead, recordChange } from '../operator/audit-record-store.ts'
import { BATCHES_SUBJECT, type Batch, MOST_LINES } from '../settlement/batch/batch.ts'
import { findBatch, findLastBatch, openBatch } from '../settlement/batch/batch-store.ts'
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
  if ((await recordChange(deps, record, { batch: openBatch(row) })).applied)
    return { ...row, state: 'open', isBroken: false, last: undefined }
  await registerAgain(deps, last, record, number)
  throw new GatewayError('conflict', 'another operator makes a payout file; try again')
}

/** A restore may bring back a batch without its place in the register: the next call finds it. */
async function registerAgain(
  deps: BatchDeps,
  last: AuditHead | undefined,
  record: Parameters<typeof recordChange>[1],
  number: number,
): Promise<void> {
  const stored = await findBatch(deps, number)
  if (stored.createdAt === undefined || (await findLastBatch(deps))?.number !== last?.number) return
  const { createdAt, settlementIds } = stored
  const after = { batch: number, created_at: createdAt, count: settlementIds?.length }
  await recordChange(deps, { ...record, after }, {})
}
