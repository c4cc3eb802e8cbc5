import type { Deps } from '../deps.ts'
import { isNew } from '../table/condition.ts'
import { auditKey } from '../table/keys.ts'
import { put, type Step } from '../table/step.ts'

export type AuditEntry = {
  /** Id of what was changed; its audit trail is one partition, oldest first. */
  readonly subject: string
  readonly operator: string
  /** Name of the operator action, as in the manifest. */
  readonly action: string
  /** Plain JSON of what changed, in wire names. Never a key, a secret or a body. */
  readonly before?: object
  readonly after?: object
}

/**
 * The audit record of an operator's change (design section 7). It rides in the transaction of the change itself, so
 * there is no change without its record and no record of a change that was refused.
 */
export const auditStep = (deps: Pick<Deps, 'now' | 'newId'>, entry: AuditEntry): Step => {
  const at = deps.now()
  return put(auditKey(entry.subject, at, deps.newId()), { ...entry, at }, isNew)
}
