import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { closeShard, closeWindow } from './fence-store.ts'
import { allShards } from './shard-store.ts'

/** Shards that are raised at the same time: each is a small write. */
const CONCURRENCY = 16

/** How long an entry that was committed before the fence may stay invisible to a query. */
const VISIBLE_AFTER_MS = 1_000

/**
 * Closes a client's journal before `end` (design sections 4 and 12): from then on every transaction with an earlier
 * entry is refused, from any clock or frozen process. The window is raised first. The answer of that write names the
 * parts, so a part that is added meanwhile is closed too or refused. Every raise succeeds or finds the fence there.
 * Safe to repeat; a fence without a settlement is harmless.
 */
export const raiseFence = async (
  deps: Pick<Deps, 'table' | 'sleep'>,
  clientId: ClientId,
  end: Timestamp,
): Promise<{ readonly parts: number }> => {
  const { parts } = await closeWindow(deps, clientId, end)
  await mapInChunks(allShards(parts), CONCURRENCY, (shard) => closeShard(deps, clientId, shard, end))
  await deps.sleep(VISIBLE_AFTER_MS)
  return { parts }
}
