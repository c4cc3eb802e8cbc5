import type { Deps } from '../deps.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { type Batch, batchSubject, mayList } from '../settlement/batch/batch.ts'
import { findBatch, markUsedAfterAll } from '../settlement/batch/batch-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Timestamp } from '../time.ts'

/** What the bank answered, and who wrote it down. */
export type Answered = { readonly operator: string; readonly outcome: 'paid' | 'failed' }

/**
 * The bank answered about the settlement in the file of this batch. If the batch is cancelled,
 * a person was wrong: its file was used. Operators are told, and the batch holds its settlements
 * again, because the bank may pay them too. A crash may repeat the alert, but never loses it.
 */
export async function noteUseAfterAll(
  deps: RecordDeps & Pick<Deps, 'alerts' | 'log'>,
  settlement: Settlement,
  { number, ...answered }: Answered & { readonly number: number },
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
      `The bank's answer says that settlement ${settlementId} ${IN_WORDS[answered.outcome]} of ` +
      `batch ${number}, but batch ${number} was cancelled. payout-file leaves out its other ` +
      'settlements. Those that a later batch has may be paid twice: stop the file of that batch. ' +
      'Ask the bank for its answer to the whole file. payout-answer writes it down, and ' +
      `mark-settlement-failed closes what the bank did not pay.${laterHint(otherBatch, answered)}`,
  })
  if (batch.usedAt !== undefined) return
  const usedAt = deps.now()
  await recordChange(deps, recordOfUse(batch, usedAt, answered), {
    batch: markUsedAfterAll(batch, usedAt),
  })
}

const IN_WORDS = { paid: 'is paid by the file', failed: 'failed in the file' } as const

/** In the chain of the batch, beside its state. */
export function recordOfUse(
  { number }: Pick<Batch, 'number'>,
  usedAt: Timestamp,
  { operator, outcome }: Answered,
): Parameters<typeof recordChange>[1] {
  return {
    subject: batchSubject(number),
    clientId: undefined,
    operator,
    action: `mark-settlement-${outcome}`,
    after: { used_at: usedAt },
  }
}

function laterHint(otherBatch: number | undefined, { outcome }: Answered): string {
  return otherBatch === undefined
    ? ''
    : ` This settlement is in batch ${otherBatch}: if no bank has its file, payout-file --cancel ` +
        `${otherBatch}, then mark-settlement-${outcome}.`
}
