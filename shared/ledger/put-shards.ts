import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { allShards, ensureShard } from './shard-store.ts'

/** Shards put side by side: each is a small write of its own. */
const CONCURRENCY = 16

/**
 * Puts the shards of the parts from `first` up to `parts`, each with its fence, before a client has them. A shard that is
 * there already is raised to the fence, and never lowered. Safe to repeat.
 */
export const putShards = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { first, parts, closedUntil }: { readonly first: number; readonly parts: number; readonly closedUntil: Timestamp },
): Promise<void> => {
  const added = allShards(parts).filter(({ part }) => part >= first)
  await mapInChunks(added, CONCURRENCY, (shard) => deps.table.write(ensureShard(clientId, shard, closedUntil)))
}
