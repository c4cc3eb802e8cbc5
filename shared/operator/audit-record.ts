import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { isNew } from '../table/condition.ts'
import { auditRecordKey, auditRecordPk } from '../table/keys.ts'
import { put, type Step } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

const AuditRecordSchema = v.object({
  /** Id of what was changed; its records are one partition, oldest first. */
  subject: v.string(),
  operator: v.string(),
  /** Name of the operator action, as in the manifest. */
  action: v.string(),
  at: TimestampSchema,
  before: v.optional(v.record(v.string(), v.unknown())),
  after: v.optional(v.record(v.string(), v.unknown())),
})
export type AuditRecord = v.InferOutput<typeof AuditRecordSchema>

type NewRecord = Pick<AuditRecord, 'subject' | 'operator' | 'action'> & {
  /** Plain JSON of what changed, in wire names. Never a key, a secret or a body. */
  readonly before?: object
  readonly after?: object
}

/**
 * The audit record of an operator's change (design section 7). It rides in the transaction of the change itself, so
 * there is no change without its record and no record of a change that was refused.
 */
export const putAuditRecord = (deps: Pick<Deps, 'now' | 'newId'>, record: NewRecord): Step => {
  const at = deps.now()
  return put(auditRecordKey(record.subject, at, deps.newId()), { ...record, at }, isNew)
}

/** A subject is changed by people, a few times in its life. */
const MAX_RECORDS = 1_000

/** Who changed what about a subject, oldest first, strongly consistent. */
export const listAuditRecords = async (deps: Pick<Deps, 'table'>, subject: string): Promise<readonly AuditRecord[]> => {
  const { items } = await deps.table.query({ partition: [auditRecordPk(subject)], limit: MAX_RECORDS })
  return items.map((item) => v.parse(AuditRecordSchema, item))
}
