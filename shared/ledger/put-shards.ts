import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { allShards, ensureShard } from './shard-store.ts'

/** Shards that are written at the same time: each is a small write. */
const CONCURRENCY = 16

/**
 * Writes the shards of the parts from `first` to `parts`, each with its fence, before a client has them. An existing
 * shard is raised to the fence, never lowered. Safe to repeat.
 */
export const putShards = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { first, parts, closedUntil }: { readonly first: number; readonly parts: number; readonly closedUntil: Timestamp },
): Promise<void> => {
  const added = allShards(parts).filter(({ part }) => part >= first)
  await mapInChunks(added, CONCURRENCY, (shard) => deps.table.write(ensureShard(clientId, shard, closedUntil)))
}
