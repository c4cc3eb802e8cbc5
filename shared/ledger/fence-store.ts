import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { Item } from '../table/attributes.ts'
import { shardKey, windowKey } from '../table/keys.ts'
import { below, type Step, update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { allShards } from './shard-store.ts'
import { WindowSchema } from './window-store.ts'

export const FenceSchema = v.object({ closedUntil: TimestampSchema })

/** How long an entry that was committed before the fence may stay invisible to a query. */
const VISIBLE_AFTER_MS = 1_000

/**
 * Closes a client's journal before `end` (design sections 4 and 12): from then on every transaction with an earlier
 * entry is refused. The window is raised first, and its answer names the parts, so a part that is added meanwhile is
 * closed too or refused. Safe to repeat; a fence without a settlement is harmless.
 */
export async function raiseFence(
  deps: Pick<Deps, 'table' | 'sleep'>,
  clientId: ClientId,
  end: Timestamp,
) {
  const [raised, isLower] = [{ set: { closedUntil: end } }, below('closedUntil', end)]
  const window = await raise(deps, update(windowKey(clientId), raised, isLower), end)
  const { parts } = v.parse(WindowSchema, window)
  await mapInChunks(allShards(parts), 16, ({ part, shard }) =>
    raise(deps, update(shardKey(clientId, shard, part), raised, isLower), end),
  )
  await deps.sleep(VISIBLE_AFTER_MS)
  return { parts }
}

/** Raises a fence, unless another run raised it as high or higher. Throws when there is no item. */
async function raise(deps: TableDeps, step: Step, end: Timestamp): Promise<Item> {
  const { item } = await deps.table.write(step)
  const { closedUntil = '' } = ifValid(FenceSchema, item) ?? {}
  assertInvariant(item !== undefined && closedUntil >= end, 'a ledger item has no fence')
  return item
}
