import type { Deps } from '../deps.ts'
import { invalid, notFound } from '../errors.ts'
import { putAuditRecord } from '../operator/audit-record.ts'
import { isSuspenseId, type RESOLUTIONS, type Suspense } from './suspense.ts'
import { findSuspense, resolveStep } from './suspense-store.ts'

type ResolveDeps = Pick<Deps, 'table' | 'now' | 'newId'>

/**
 * An operator closes a suspense item: the money was refunded, or it is written off. Once; the gateway moves no money
 * by it. Writes the audit record in the same transaction.
 */
export const resolveSuspense = async (
  deps: ResolveDeps,
  input: {
    readonly suspenseId: string
    readonly operator: string
    readonly resolution: (typeof RESOLUTIONS)[number]
    readonly notes: string | undefined
  },
): Promise<Suspense> => {
  const item = isSuspenseId(input.suspenseId) ? await findSuspense(deps, input.suspenseId) : undefined
  if (item === undefined) throw notFound('suspense item')
  const resolved: Suspense = { ...item, status: 'resolved', resolution: input.resolution, notes: input.notes }
  const outcome = await deps.table.transact({
    item: resolveStep(resolved),
    auditRecord: putAuditRecord(deps, {
      subject: item.suspenseId,
      operator: input.operator,
      action: 'resolve-suspense',
      before: { status: item.status },
      after: { status: 'resolved', resolution: input.resolution, notes: input.notes ?? null },
    }),
  })
  if (!outcome.applied) {
    throw invalid('this item is resolved already', undefined, 'list-suspense shows how it was resolved.')
  }
  return resolved
}
