import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { shardKey, windowKey } from '../table/keys.ts'
import { below, update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { allShards, type ShardPlace } from './shard-store.ts'
import { WindowSchema } from './window-store.ts'

const Closed = v.object({ closedUntil: TimestampSchema })

/**
 * The item after the raise. Its fence is at least as high, also when another run raised it. Throws when there is no
 * item.
 */
const fenced = ({ item }: { readonly item: Item | undefined }, end: Timestamp): Item => {
  const closed = v.safeParse(Closed, item)
  assertInvariant(
    item !== undefined && closed.success && closed.output.closedUntil >= end,
    'a ledger item has no fence',
  )
  return item
}

const isLower = (end: Timestamp) => below('closedUntil', end)

/** Raises the window's fence. Answers the client's number of parts at that write. */
export const closeWindow = async (
  deps: TableDeps,
  clientId: ClientId,
  end: Timestamp,
): Promise<{ readonly parts: number }> => {
  const raised = await deps.table.write(update(windowKey(clientId), { set: { closedUntil: end } }, isLower(end)))
  return v.parse(WindowSchema, fenced(raised, end))
}

/** Raises the fence of one shard. */
export const closeShard = async (
  deps: TableDeps,
  clientId: ClientId,
  { part, shard }: ShardPlace,
  end: Timestamp,
): Promise<void> => {
  fenced(
    await deps.table.write(update(shardKey(clientId, shard, part), { set: { closedUntil: end } }, isLower(end))),
    end,
  )
}

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
