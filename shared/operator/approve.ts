import * as v from 'valibot'
import { parseInput } from '../field-errors.ts'
import { ifValid } from '../if-valid.ts'
import { addMs, later, TimestampSchema } from '../time.ts'
import {
  APPROVED_FIGURES,
  type Approvable,
  type Approval,
  approvalIdOf,
  approvalOwner,
  approvalSubject,
  approvalWasChanged,
  FiguresSchema,
  findStoredApproval,
  newApproval,
  putApproval,
} from './approval-store.ts'
import { type RecordDeps, recordChange } from './audit-record-store.ts'

/**
 * Approves one action with exactly these figures, for 72 hours and one use (design section 11). It
 * changes no money, and needs no action to exist. A later approval of the same subject replaces
 * this one, and has a later time, which says which one was used. Throws 422 for figures that the
 * action cannot have, and 409 if another person approves the same subject, or the earlier
 * approval is used, at the same time. `requireReplaceable` may refuse to replace an approval that
 * was used.
 */
export async function approve(
  deps: RecordDeps,
  input: Approvable & { readonly operator: string; readonly notes?: string | undefined },
  requireReplaceable: () => Promise<void> = async () => undefined,
) {
  const { operator, notes } = input
  const approvable = { action: input.action, payload: figuresIn(input) }
  const earlier = await findStoredApproval(deps, approvable)
  if (earlier?.usedAt !== undefined) await requireReplaceable()
  const earlierAt = ifValid(TimestampSchema, earlier?.at)
  const now = deps.now()
  const at = earlierAt === undefined ? now : later(now, addMs(earlierAt, 1))
  const approval = newApproval(approvable, operator, at)
  const subject = approvalSubject(approvalIdOf(approval))
  const clientId = approvalOwner(approval.payload)
  const after = { ...toApprovalDto(approval), notes: notes ?? null }
  const record = { subject, clientId, operator, action: 'approve', after }
  const outcome = await recordChange(deps, record, { approval: putApproval(approval, earlier) })
  if (!outcome.applied) throw approvalWasChanged()
  return toApprovalDto(approval)
}

/** The action would find no other approval, and this person would believe that it has one. */
function figuresIn({ action, payload }: Approvable) {
  const figures = APPROVED_FIGURES[action]
  const hint = `${action} has ${Object.keys(figures).join(', ')}.`
  const schema = v.pipe(v.strictObject(figures), FiguresSchema)
  return parseInput(v.strictObject({ payload: schema }), { payload }, hint).payload
}

function toApprovalDto({ action, payload, operator, at, until, usedAt }: Approval) {
  return { action, payload, approved_by: operator, at, until, used_at: usedAt ?? null }
}
