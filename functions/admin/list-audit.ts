import * as v from 'valibot'
import { requireClient } from '../../shared/client/client-store.ts'
import {
  findAuditRecordsOf,
  findAuditRecordsOfClient,
  toAuditRecordDto,
} from '../../shared/operator/audit-record-store.ts'
import { listDto, pageFields } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.pipe(
  v.strictObject({
    subject: v.optional(v.pipe(v.string(), v.maxLength(500, 'at most 500 characters'))),
    client_id: v.optional(v.string()),
    ...pageFields,
  }),
  v.check(
    ({ subject, client_id }) => (subject === undefined) !== (client_id === undefined),
    'name subject or client_id',
  ),
)

export const handler = adminHandler(
  {
    summary:
      'Audit records (who changed what, and when), newest first: of one item by its id ' +
      '(subject), or of a merchant and everything that belongs to it.',
    input,
  },
  async (deps, { subject = '', clientId, ...page }) => {
    if (clientId !== undefined) await requireClient(deps, clientId)
    const read = await (clientId
      ? findAuditRecordsOfClient(deps, clientId, page)
      : findAuditRecordsOf(deps, subject, page))
    return listDto(read.rows.map(toAuditRecordDto), read, page)
  },
)
