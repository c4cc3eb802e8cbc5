import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { syncJobKey } from '../table/keys.ts'
import { absent, dueWork, update } from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import { addMs, type Timestamp } from '../time.ts'
import { isMine } from './job-store.ts'
import { type OpenTransaction, OpenTransactionSchema, type SyncJob } from './sync-job.ts'

const openId = ({ transactionId }: ProviderTransaction) => `open#${transactionId}`

type Row = OpenTransaction['transaction']

/** Several passes read the same row. A row that is equal or older is not news. */
const isNewer = (known: Row, row: Row): boolean => {
  const fields = new Set([...Object.keys(known), ...Object.keys(row)])
  const differs = (field: string) => Reflect.get(known, field) !== Reflect.get(row, field)
  return row.updatedAt >= known.updatedAt && [...fields].some(differs)
}

/** Each further try has lost against another claim; more than this is an error. */
const MAX_TRIES = 5

/**
 * Records a transaction in its latest form, to be checked again alone at `dueAt`. A worker that checks an older form
 * loses its claim, so its result does not end the job. Throws when every try meets another claim.
 */
export const noteOpen = async (deps: TableDeps, transaction: ProviderTransaction, dueAt: Timestamp): Promise<void> => {
  const id = openId(transaction)
  const row = { id, kind: 'open', provider: UPSTREAM, tries: 0, transaction, ...dueWork('sync', id, dueAt) }
  const note = update(syncJobKey(id), { set: row, remove: ['ttl'] }, absent('work'))
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { applied, item } = await deps.table.write(note)
    if (applied) return
    const stored = v.parse(OpenTransactionSchema, item)
    if (!isNewer(stored.transaction, transaction)) return
    const renewed = { transaction, dueAt: stored.dueAt === dueAt ? addMs(dueAt, 1) : dueAt }
    if ((await deps.table.write(update(syncJobKey(id), { set: renewed }, isMine(stored)))).applied) return
  }
  throw new Error(`${id}: ${MAX_TRIES} tries met another claim`)
}

/** Schedules the next check of a transaction after one without a result. */
export const retryOpen = (deps: TableDeps, job: Extract<SyncJob, { kind: 'open' }>, dueAt: Timestamp) =>
  deps.table.write(update(syncJobKey(job.id), { set: { dueAt, tries: job.tries + 1 } }, isMine(job)))
