import type { AuditRecord } from './audit-record-store.ts'

/** A record as operators see it (design section 7). */
export const toAuditRecordDto = ({ subject, operator, action, at, requestId, before, after }: AuditRecord) => ({
  at,
  operator,
  action,
  subject,
  request_id: requestId ?? null,
  before: before ?? null,
  after: after ?? null,
})
