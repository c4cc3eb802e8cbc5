import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { type Approval, ApprovalSchema, approvalIdIn } from '../../operator/approval-store.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { approvalKey } from '../../table/keys.ts'
import { type Difference, onlyIf } from '../../verdict/difference.ts'
import { rowDifferences } from './row-differences.ts'

const Approved = v.object({
  ...v.pick(ApprovalSchema, ['action', 'payload', 'at', 'until']).entries,
  approved_by: v.string(),
})

/**
 * An approval is as the last record of its subject says, and was used within its time. None for the
 * records of another subject.
 */
export async function auditApproval(
  deps: StoreDeps,
  subject: string,
  records: readonly AuditRecord[],
): Promise<readonly Difference[]> {
  const id = approvalIdIn(subject)
  // By number, because the clocks of two approvers may differ.
  const lastRecord = records.toSorted((a, b) => a.number - b.number).at(-1)
  const said = ifValid(Approved, lastRecord?.after)
  if (id === undefined || said === undefined) return []
  const { approved_by: operator, ...fields } = said
  const stored = await deps.table.get(approvalKey(id))
  const { usedAt } = ifValid(ApprovalSchema, stored) ?? {}
  const approval: Approval = { ...fields, operator, usedAt }
  return [
    ...rowDifferences('approval', id, approval, stored),
    ...onlyIf(usedAt !== undefined && !(usedAt >= said.at && usedAt < said.until), [
      { what: 'approval.used_at', id, expected: 'within its time', found: usedAt ?? null },
    ]),
  ]
}
