import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { listItems } from '../table/list-items.ts'
import { AUDIT_RECORD_ENTITY, type AuditRecord, AuditRecordSchema, listAuditRecords } from './audit-record-store.ts'

/** The audit records of one subject, newest first. */
export const findAuditRecordsOf = async (deps: TableDeps, subject: string, page: Page) => {
  const first = firstOfPage(page)
  return (await listAuditRecords(deps, subject)).toReversed().slice(first, first + page.perPage)
}

/** The audit records of a client and of all its resources, newest first. */
export const findAuditRecordsOfClient = async (deps: TableDeps, clientId: ClientId, page: Page) => {
  const items = await listItems(deps, {
    kind: 'AUDIT',
    index: 'by-owner',
    partition: [clientId, AUDIT_RECORD_ENTITY],
    page,
  })
  return items.map((item) => v.parse(AuditRecordSchema, item))
}

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
