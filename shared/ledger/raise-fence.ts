import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { closeShard, closeWindow } from './fence-store.ts'
import { allShards } from './shard-store.ts'

/** Shards raised side by side: each is a small write of its own. */
const CONCURRENCY = 16

/** How long an entry that was committed before the fence may stay invisible to a query. */
const VISIBLE_AFTER_MS = 1_000

/**
 * Closes a client's journal before `end` (design sections 4 and 12): from then on every transaction with an entry before
 * it is refused, by whatever clock or frozen process it comes. The window is raised first, and the answer to that write
 * names the parts, so that a part that grows meanwhile is closed too or refused. Every raise succeeds or finds as much
 * there. Safe to repeat; a fence without a settlement does no harm.
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
