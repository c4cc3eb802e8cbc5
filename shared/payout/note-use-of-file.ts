import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { batchSubject, mayList } from '../settlement/batch/batch.ts'
import {
  findBatch,
  type LiveBatch,
  liveBatchOf,
  markUsed,
} from '../settlement/batch/batch-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Timestamp } from '../time.ts'

/** What the bank answered, and who wrote it down. */
type Answered = { readonly operator: string; readonly outcome: 'paid' | 'failed' }

type UseDeps = RecordDeps & Pick<Deps, 'alerts' | 'log'>

/** A try is refused if another line of the answer, or a cancellation, changed the batch first. */
const MAX_TRIES = 3

/**
 * The bank answered about the settlement in the file of this batch, so a bank has the file. The
 * first answer marks the batch as used, and a used batch is not cancelled. If it is cancelled
 * already, a person was wrong: operators are told, and the batch holds its settlements again,
 * because the bank may pay them too. A crash may repeat the alert, but never loses it.
 */
export async function noteUseOfFile(
  deps: UseDeps,
  settlement: Settlement,
  { number, ...answered }: Answered & { readonly number: number },
): Promise<void> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const batch = await findAnsweredBatch(deps, settlement, number)
    if (batch?.state === 'cancelled') await tellUseAfterAll(deps, settlement, batch, answered)
    const { step, registration } = firstUseOf(batch, deps.now(), answered)
    if (registration === undefined) return
    if ((await recordChange(deps, registration, { batch: step })).applied) return
  }
  throw new GatewayError('conflict', `batch ${number} is being changed right now; try again`)
}

/** Undefined for a batch without the settlement. */
async function findAnsweredBatch(
  deps: UseDeps,
  settlement: Settlement,
  number: number,
): Promise<LiveBatch | undefined> {
  const batch = await findBatch(deps, number)
  if (batch) return mayList(batch, settlement) ? batch : undefined
  return settlement.batch === number ? liveBatchOf(deps, settlement) : undefined
}

async function tellUseAfterAll(
  deps: UseDeps,
  { settlementId, batch: last }: Settlement,
  { number, usedAt }: LiveBatch,
  { outcome }: Answered,
): Promise<void> {
  const otherBatch = last === number ? undefined : last
  if (usedAt !== undefined && otherBatch === undefined) return
  const laterHint =
    otherBatch === undefined
      ? ''
      : ` This settlement is in batch ${otherBatch}: if no bank has its file, payout-file ` +
        `--cancel ${otherBatch}, then mark-settlement-${outcome}.`
  deps.log.warn('payout.after_difference', { settlement_id: settlementId })
  await deps.alerts.publish({
    kind: 'payout.after_difference',
    subject: settlementId,
    message:
      `The bank's answer says that settlement ${settlementId} ${IN_WORDS[outcome]} of batch ` +
      `${number}, but batch ${number} was cancelled. payout-file leaves out its other ` +
      'settlements. Those that a later batch has may be paid twice: stop the file of that batch. ' +
      'Ask the bank for its answer to the whole file. payout-answer writes it down, and ' +
      `mark-settlement-failed closes what the bank did not pay.${laterHint}`,
  })
}

const IN_WORDS = { paid: 'is paid by the file', failed: 'failed in the file' } as const

/**
 * The step and the record, in the chain of the batch, of its first use. Of a later use only the
 * record, while the batch is open: a file that is made meanwhile is refused. A row that cannot be
 * read is not changed.
 */
export function firstUseOf(
  batch: LiveBatch | undefined,
  usedAt: Timestamp,
  { operator, outcome }: Answered,
) {
  if (batch === undefined) return {}
  const { number, state, usedAt: firstUsedAt } = batch
  if (firstUsedAt !== undefined && state !== 'open') return {}
  const registration = {
    subject: batchSubject(number),
    clientId: undefined,
    operator,
    action: `mark-settlement-${outcome}`,
    after: { used_at: firstUsedAt ?? usedAt },
  }
  if (firstUsedAt !== undefined || state === undefined) return { registration }
  return { step: markUsed({ number, state }, usedAt), registration }
}
