import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { auditPk } from '../table/keys.ts'
import { TimestampSchema } from '../time.ts'

const AuditRecordSchema = v.object({
  subject: v.string(),
  operator: v.string(),
  action: v.string(),
  at: TimestampSchema,
  before: v.optional(v.record(v.string(), v.unknown())),
  after: v.optional(v.record(v.string(), v.unknown())),
})
export type AuditRecord = v.InferOutput<typeof AuditRecordSchema>

/** A subject is changed by people, a few times in its life. */
const MAX_RECORDS = 1_000

/** Who changed what about a subject, oldest first, strongly consistent. */
export const listAudit = async (deps: Pick<Deps, 'table'>, subject: string): Promise<readonly AuditRecord[]> => {
  const { items } = await deps.table.query({ partition: [auditPk(subject)], limit: MAX_RECORDS })
  return items.map((item) => v.parse(AuditRecordSchema, item))
}
