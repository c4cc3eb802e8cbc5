import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { firstOfPage, type Page } from '../page.ts'
import { listItems } from '../table/list-items.ts'
import { AUDIT_RECORD_ENTITY, type AuditRecord, AuditRecordSchema, listAuditRecords } from './audit-record-store.ts'

/** What was done to one thing, newest first: records of every release. */
export const findAuditRecordsOf = async (
  deps: Pick<Deps, 'table'>,
  subject: string,
  page: Page,
): Promise<readonly AuditRecord[]> => {
  const first = firstOfPage(page)
  return (await listAuditRecords(deps, subject)).toReversed().slice(first, first + page.perPage)
}

/** What was done to a client and to all that is the client's, newest first: records since they name their client. */
export const findAuditRecordsOfClient = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  page: Page,
): Promise<readonly AuditRecord[]> => {
  const items = await listItems(deps, {
    kind: 'AUDIT',
    index: 'by-owner',
    partition: [clientId, AUDIT_RECORD_ENTITY],
    page,
  })
  return items.map((item) => v.parse(AuditRecordSchema, item))
}
