import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import {
  type Approvable,
  type Approval,
  ApprovalSchema,
  approvalIdIn,
  approvalOwner,
} from '../../operator/approval-store.ts'
import { type AuditRecord, readAuditRecords } from '../../operator/audit-record-store.ts'
import { HOUSE_SUBJECT } from '../../posting/adjust-house.ts'
import { batchSubject } from '../../settlement/batch/batch.ts'
import { approvalKey } from '../../table/keys.ts'
import { acceptedSubject, UsingSchema } from '../../verdict/acceptances.ts'
import { compare } from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'

const Approved = v.object({
  ...v.pick(ApprovalSchema, ['action', 'payload', 'at', 'until']).entries,
  approved_by: v.string(),
})

/**
 * An approval is as the last record of its subject says, and was used when the record of the action
 * says. None for the records of another subject.
 */
export async function auditApproval(
  deps: StoreDeps,
  subject: string,
  records: readonly AuditRecord[],
) {
  const id = approvalIdIn(subject)
  const said = ifValid(Approved, records.at(-1)?.after)
  if (id === undefined) return []
  if (said === undefined) return compare('approval', id, 'recorded', 'not recorded')
  const { approved_by: operator, ...fields } = said
  const stored = await deps.table.get(approvalKey(id))
  const uses = (await readAuditRecords(deps, subjectOfUse(said))).records.flatMap(
    (record) => usedIn(record) ?? [],
  )
  const use = uses.find((one) => one.id === id && one.at === said.at)
  const approval: Approval = { ...fields, operator, usedAt: use?.used_at }
  return rowDifferences('approval', id, approval, stored)
}

/** The subject of the records of the action that needs the approval. */
function subjectOfUse({ action, payload }: Approvable) {
  if (action === 'adjust-house') return HOUSE_SUBJECT
  if (action === 'accept-difference') return acceptedSubject(approvalOwner(payload))
  if (action === 'payout-file') return batchSubject(Number(payload['cancel']))
  const { settlement_id, suspense_id, payment_id, client_id } = payload
  return String(settlement_id ?? suspense_id ?? payment_id ?? client_id)
}

/** The approval that the action of a record has used up. */
export function usedIn({ after }: AuditRecord) {
  return ifValid(UsingSchema, after)?.approved
}

/** In whose list the records of an approval are; undefined for those of another subject. */
export function ownerOfApproval(records: readonly AuditRecord[]) {
  const [said] = records.flatMap(({ action, after }) =>
    action === 'approve' ? (ifValid(Approved, after) ?? []) : [],
  )
  return said && approvalOwner(said.payload)
}
