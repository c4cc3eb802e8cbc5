import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { ClientIdSchema, type SettlementId, SettlementIdSchema } from '../ids.ts'
import { verdictKey } from '../table/keys.ts'
import {
  absent,
  all,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  exists,
  guard,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import { addMs, MINUTE_MS, type Timestamp, TimestampSchema } from '../time.ts'
import { DifferenceSchema } from './difference.ts'

/** Whether a settlement was audited since it was recorded. Its differences stand on its client. */
export const SettlementVerdictSchema = v.object({
  clientId: ClientIdSchema,
  settlementId: SettlementIdSchema,
  state: v.picklist(['waiting', 'audited', 'inconclusive']),
  /** When the audit is due, until it is done. */
  dueAt: v.optional(TimestampSchema),
  auditedAt: v.optional(TimestampSchema),
  /**
   * Of a long settlement: the progress of its audit, and the differences of the last whole pass,
   * which the next pass must confirm.
   */
  progress: v.optional(v.unknown()),
  seen: v.optional(v.array(DifferenceSchema), []),
})
export type SettlementVerdict = v.InferOutput<typeof SettlementVerdictSchema>

/** A settlement is audited this long after its recording, when late entries are visible. */
const FIRST_AUDIT_MS = MINUTE_MS

/** Due for the settlement's first audit. */
export function putSettlementVerdict({
  clientId,
  settlementId,
  createdAt,
}: Pick<SettlementVerdict, 'clientId' | 'settlementId'> & { readonly createdAt: Timestamp }): Step {
  const dueFields = dueWork('audit', settlementId, addMs(createdAt, FIRST_AUDIT_MS))
  return put(
    verdictKey(settlementId),
    { clientId, settlementId, state: 'waiting', id: settlementId, ...dueFields },
    isNew,
  )
}

export async function readSettlementVerdict(deps: TableDeps, settlementId: SettlementId) {
  return v.parse(
    v.optional(SettlementVerdictSchema),
    await deps.table.get(verdictKey(settlementId)),
  )
}

/** False: another worker has claimed or finished the audit. */
export async function moveAudit(
  deps: TableDeps,
  { settlementId, dueAt }: Pick<SettlementVerdict, 'settlementId' | 'dueAt'>,
  set: { readonly dueAt: Timestamp; readonly progress?: object },
): Promise<boolean> {
  const isDue = all(equals('work', 'audit'), unchanged('dueAt', dueAt))
  return (await deps.table.write(update(verdictKey(settlementId), { set }, isDue))).applied
}

/** Makes an audited settlement due for another audit. Refused while an audit is due. */
export function requestAudit(settlementId: SettlementId, now: Timestamp): Step {
  return update(
    verdictKey(settlementId),
    { set: dueWork('audit', settlementId, now) },
    all(exists, absent('work')),
  )
}

type AuditResult = Required<Pick<SettlementVerdict, 'state' | 'dueAt' | 'auditedAt' | 'seen'>>

/** Records the result of an audit. An inconclusive audit is due again. */
export function recordAuditResult(
  settlementId: SettlementId,
  { dueAt, ...result }: AuditResult,
): Step {
  const key = verdictKey(settlementId)
  const isDue = equals('work', 'audit')
  return result.state === 'audited'
    ? update(key, { set: result, remove: [...DUE_WORK_FIELDS, 'progress'] }, isDue)
    : update(key, { set: { ...result, dueAt }, remove: ['progress'] }, isDue)
}

/** Requires that a settlement is audited, and that its verdict is unchanged since it was read. */
export function requireSameSettlementVerdict({ settlementId, auditedAt }: SettlementVerdict): Step {
  return guard(
    verdictKey(settlementId),
    all(equals('state', 'audited'), unchanged('auditedAt', auditedAt)),
  )
}
