import { invalid, notFound } from '../errors.ts'
import { type AuditDeps, recordChange } from '../operator/audit-record.ts'
import { isSuspenseId, type RESOLUTIONS, type Suspense } from './suspense.ts'
import { findSuspense, resolveStep } from './suspense-store.ts'

type ResolveDeps = AuditDeps

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
  const record = {
    subject: item.suspenseId,
    clientId: item.clientId,
    operator: input.operator,
    action: 'resolve-suspense',
    before: { status: item.status },
    after: { status: 'resolved', resolution: input.resolution, notes: input.notes ?? null },
  }
  const outcome = await recordChange(deps, record, { item: resolveStep(resolved) })
  if (!outcome.applied) {
    throw invalid('this item is resolved already', undefined, 'list-suspense shows how it was resolved.')
  }
  return resolved
}
