import { invalid, notFound } from '../errors.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { isSuspenseId, type RESOLUTIONS, type Suspense } from './suspense.ts'
import { findSuspense, resolveStep } from './suspense-store.ts'

type Resolution = (typeof RESOLUTIONS)[number]

const allowed = (kind: Suspense['kind']): readonly Resolution[] =>
  kind === 'receivable' ? ['recovered', 'written_off'] : ['refunded', 'written_off']

/**
 * An operator closes a suspense item: the money was refunded, what was owed recovered, or it is written off. Once; the gateway moves no money
 * by it. Writes the audit record in the same transaction.
 */
export const resolveSuspense = async (
  deps: RecordDeps,
  input: {
    readonly suspenseId: string
    readonly operator: string
    readonly resolution: Resolution
    readonly notes: string | undefined
  },
): Promise<Suspense> => {
  const item = isSuspenseId(input.suspenseId) ? await findSuspense(deps, input.suspenseId) : undefined
  if (item === undefined) throw notFound('suspense item')
  if (!allowed(item.kind).includes(input.resolution)) {
    throw invalid(
      `a ${item.kind} cannot be ${input.resolution}`,
      { resolution: [`must be one of ${allowed(item.kind).join(', ')}`] },
      'Money that nobody was credited with is refunded or written off; what a client owes is recovered or written off.',
    )
  }
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
