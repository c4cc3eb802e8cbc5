import type { Deps } from '../deps.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { type Batch, batchSubject, mayList } from '../settlement/batch/batch.ts'
import { findBatch, markUsedAfterAll } from '../settlement/batch/batch-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Timestamp } from '../time.ts'

/**
 * The bank says that it paid the settlement from the file of this batch. If the batch is cancelled,
 * a person was wrong: its file was used. Operators are told, and the batch holds its settlements
 * again, because the bank may pay them too. A crash may repeat the alert, but never loses it.
 */
export async function noteUseAfterAll(
  deps: RecordDeps & Pick<Deps, 'alerts' | 'log'>,
  settlement: Settlement,
  { number, operator }: { readonly number: number; readonly operator: string },
): Promise<void> {
  const batch = await findBatch(deps, number)
  if (batch?.state !== 'cancelled' || !mayList(batch, settlement)) return
  const { settlementId } = settlement
  const otherBatch = settlement.batch === number ? undefined : settlement.batch
  if (batch.usedAt !== undefined && otherBatch === undefined) return
  deps.log.warn('payout.after_difference', { settlement_id: settlementId })
  await deps.alerts.publish({
    kind: 'payout.after_difference',
    subject: settlementId,
    message:
      `The bank's answer says that settlement ${settlementId} is paid by the file of batch ` +
      `${number}, but batch ${number} was cancelled. payout-file leaves out its other ` +
      'settlements. Those that a later batch has may be paid twice: stop the file of that batch. ' +
      'Ask the bank for its answer to the whole file. payout-answer writes it down, and ' +
      `mark-settlement-failed closes what the bank did not pay.${laterHint(otherBatch)}`,
  })
  if (batch.usedAt !== undefined) return
  const usedAt = deps.now()
  await recordChange(deps, recordOfUse(batch, usedAt, operator), {
    batch: markUsedAfterAll(batch, usedAt),
  })
}

/** In the chain of the batch, beside its state. */
export function recordOfUse(
  { number }: Pick<Batch, 'number'>,
  usedAt: Timestamp,
  operator: string,
): Parameters<typeof recordChange>[1] {
  return {
    subject: batchSubject(number),
    clientId: undefined,
    operator,
    action: 'mark-settlement-paid',
    after: { used_at: usedAt },
  }
}

function laterHint(otherBatch: number | undefined): string {
  return otherBatch === undefined
    ? ''
    : ` This settlement is in batch ${otherBatch}: if no bank has its file, payout-file --cancel ` +
        `${otherBatch}, then mark-settlement-paid.`
}
