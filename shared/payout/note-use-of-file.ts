import type { Deps } from '../deps.ts'
import { conflict } from '../errors.ts'
import { findAuditHead, type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { type Batch, batchRecord, batchSubject } from '../settlement/batch/batch.ts'
import { batchOf } from '../settlement/batch/batch-store.ts'
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
 * already, a person was wrong: operators are told, and the batch is live again, because the bank
 * may pay all its settlements. A crash may repeat the alert, but never loses it.
 */
export async function noteUseOfFile(
  deps: UseDeps,
  settlement: Settlement,
  { number, ...answered }: Answered & { readonly number: number },
) {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const batch = await batchOf(deps, settlement, number)
    if (batch?.state === 'cancelled') await alertUseOfCancelled(deps, settlement, batch, answered)
    const use = recordOfUse(batch, answered, { used_at: deps.now() })
    if (use === undefined || (await recordChange(deps, use, {})).applied) return
  }
  // A head that cannot be read refuses each try, and names recount-ledger.
  await findAuditHead(deps, batchSubject(number))
  throw conflict(`batch ${number} is being changed right now; try again`)
}

async function alertUseOfCancelled(
  deps: UseDeps,
  { settlementId, batch: last }: Settlement,
  { number, usedAt }: Batch,
  { outcome }: Answered,
) {
  const otherBatch = last === number ? undefined : last
  if (usedAt !== undefined && otherBatch === undefined) return
  const laterHint =
    otherBatch === undefined
      ? ''
      : ` This settlement is in batch ${otherBatch}: if no bank has its file, payout-file ` +
        `--cancel ${otherBatch}, then mark-settlement-${outcome}.`
  await alertUnexpectedAnswer(
    deps,
    settlementId,
    `The bank's answer says that settlement ${settlementId} ${IN_WORDS[outcome]} of batch ` +
      `${number}, but batch ${number} was cancelled. payout-file leaves out its other ` +
      'settlements. Those that a later batch has may be paid twice: stop the file of that batch. ' +
      'Ask the bank for its answer to the whole file. payout-answer writes it down, and ' +
      `mark-settlement-failed closes what the bank did not pay.${laterHint}`,
  )
}

/** The bank's answer contradicts what the gateway knows by now. */
export function alertUnexpectedAnswer(
  deps: Pick<Deps, 'alerts' | 'log'>,
  subject: string,
  message: string,
) {
  deps.log.warn('payout.after_difference', { settlement_id: subject })
  return deps.alerts.publish({ kind: 'payout.after_difference', subject, message })
}

const IN_WORDS = { paid: 'is paid by the file', failed: 'failed in the file' } as const

/**
 * What a record of the batch says of the bank's answer: when its file was used, or, because an open
 * batch has no file yet, which settlement the file must not have. Undefined if a use of the batch
 * is recorded already.
 */
export function recordOfUse(
  batch: Batch | undefined,
  { operator, outcome }: Answered,
  after: { readonly used_at: Timestamp } | { readonly settlement_id: string },
) {
  return batch && batch.usedAt === undefined
    ? batchRecord(batch, operator, `mark-settlement-${outcome}`, after)
    : undefined
}
