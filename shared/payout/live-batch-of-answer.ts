import type { Deps, TableDeps } from '../deps.ts'
import { type RecordDeps, readAuditRecords } from '../operator/audit-record-store.ts'
import { batchSubject } from '../settlement/batch/batch.ts'
import { type LiveBatch, liveBatchOf, markUsed, stateIn } from '../settlement/batch/batch-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import type { Timestamp } from '../time.ts'
import { type Answered, noteUseAfterAll, recordOfUse } from './note-use-after-all.ts'

/**
 * The live batch of a settlement that is to be closed. The batch in whose file the bank found it
 * may have been cancelled since the caller looked at the batch.
 */
export async function liveBatchOfAnswer(
  deps: RecordDeps & Pick<Deps, 'alerts' | 'log'>,
  settlement: Settlement,
  { fileOf, ...answered }: Answered & { readonly fileOf?: number | undefined },
): Promise<LiveBatch | undefined> {
  const live = await findLiveBatch(deps, settlement)
  if (fileOf === undefined || live?.number === fileOf) return live
  await noteUseAfterAll(deps, settlement, { number: fileOf, ...answered })
  return findLiveBatch(deps, settlement)
}

/** The records of a batch whose row cannot be read say whether it is used. */
async function findLiveBatch(deps: TableDeps, settlement: Settlement) {
  const live = await liveBatchOf(deps, settlement)
  if (live === undefined || live.state !== undefined) return live
  const { records } = await readAuditRecords(deps, batchSubject(live.number))
  return { ...live, usedAt: stateIn(records).usedAt }
}

/** Of the first answer to the file of a live batch: a used batch is not cancelled. */
export function firstUseOf(live: LiveBatch | undefined, usedAt: Timestamp, answered: Answered) {
  if (live === undefined || live.usedAt !== undefined) return {}
  return {
    // A row that cannot be read is not changed.
    step: live.state === undefined ? undefined : markUsed(live, usedAt),
    registration: recordOfUse(live, usedAt, answered),
  }
}
