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
import { allShards, type ShardPlace } from './shard-store.ts'
import { WindowSchema } from './window-store.ts'

export const FenceSchema = v.object({ closedUntil: TimestampSchema })

const raised = (end: Timestamp) => ({ set: { closedUntil: end } })
const isLower = (end: Timestamp) => below('closedUntil', end)

/** Raises a fence, unless another run raised it as high or higher. Throws when there is no item. */
const raise = async (deps: TableDeps, step: Step, end: Timestamp): Promise<Item> => {
  const { item } = await deps.table.write(step)
  const { closedUntil = '' } = ifValid(FenceSchema, item) ?? {}
  assertInvariant(item !== undefined && closedUntil >= end, 'a ledger item has no fence')
  return item
}

/** Raises the window's fence. Answers the client's number of parts at that write. */
export const closeWindow = async (deps: TableDeps, clientId: ClientId, end: Timestamp) =>
  v.parse(WindowSchema, await raise(deps, update(windowKey(clientId), raised(end), isLower(end)), end))

export const closeShard = (deps: TableDeps, clientId: ClientId, { part, shard }: ShardPlace, end: Timestamp) =>
  raise(deps, update(shardKey(clientId, shard, part), raised(end), isLower(end)), end)

const CONCURRENCY = 16

/** How long an entry that was committed before the fence may stay invisible to a query. */
const VISIBLE_AFTER_MS = 1_000

/**
 * Closes a client's journal before `end` (design sections 4 and 12): from then on every transaction with an earlier
 * entry is refused. The window is raised first, and its answer names the parts, so a part that is added meanwhile is
 * closed too or refused. Safe to repeat; a fence without a settlement is harmless.
 */
export const raiseFence = async (deps: Pick<Deps, 'table' | 'sleep'>, clientId: ClientId, end: Timestamp) => {
  const { parts } = await closeWindow(deps, clientId, end)
  await mapInChunks(allShards(parts), CONCURRENCY, (shard) => closeShard(deps, clientId, shard, end))
  await deps.sleep(VISIBLE_AFTER_MS)
  return { parts }
}
