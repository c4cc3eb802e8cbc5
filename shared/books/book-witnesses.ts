import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { ifValid } from '../if-valid.ts'
import { CONTRADICTING_CAUSES, SuspenseSchema } from '../suspense/suspense.ts'
import { idOf, rowKeysOf } from '../table/keys.ts'
import { keyedItems, queryAll } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { unacceptedDifferences } from '../verdict/acceptances.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { compare, type Difference, mayBePaid } from '../verdict/difference.ts'

/** What an audit found and finance has not accepted, if it would refuse payouts. */
export async function auditDifferences(
  deps: TableDeps,
  owner: string,
): Promise<readonly Difference[]> {
  const { standing } = await readClientVerdict(deps, owner)
  const blocking = standing.filter((difference) => !mayBePaid(difference))
  const open = await unacceptedDifferences(deps, owner, blocking)
  return open.map(({ what, id, expected, found }) => ({ what, id, expected, found }))
}

/**
 * The unexplained findings of rows that contradict themselves, by client or gateway. The list of
 * open items has their causes, so a finding that cannot be read counts.
 */
export async function contradictions(
  deps: TableDeps,
): Promise<ReadonlyMap<string, readonly Difference[]>> {
  const partition = [GATEWAY_OWNER, 'suspense', 'open'] as const
  const rows = await queryAll(deps, { index: 'by-status', partition, limit: 1_000 })
  const contradicting = rows.filter(({ pk }) =>
    CONTRADICTING_CAUSES.some((cause) => String(pk).endsWith(`#${cause}`)),
  )
  const keys = rowKeysOf('SUSPENSE', contradicting)
  const byOwner = new Map<string, readonly Difference[]>()
  for (const { key, item } of keyedItems(keys, await deps.table.getMany(keys))) {
    const { status = 'unreadable' } = ifValid(SuspenseSchema, item) ?? {}
    if (item === undefined || status === 'resolved') continue
    const owner = ifValid(v.string(), item['clientId']) ?? GATEWAY_OWNER
    const found = compare('contradicting row', idOf(key.pk), 'explained', status)
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), ...found])
  }
  return byOwner
}
