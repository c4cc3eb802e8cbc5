import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { below } from '../table/condition.ts'
import { type Key, shardKey, windowKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import type { ShardPlace } from './shard-store.ts'
import { WindowSchema } from './window-store.ts'

const Closed = v.object({ closedUntil: TimestampSchema })

/** Raises one item's fence. Answers the item with a fence as high, whoever raised it; throws when it has none. */
const raise = async (deps: Pick<Deps, 'table'>, key: Key, end: Timestamp): Promise<Item> => {
  const { item } = await deps.table.write(update(key, { set: { closedUntil: end } }, below('closedUntil', end)))
  const closed = v.safeParse(Closed, item)
  assertInvariant(
    item !== undefined && closed.success && closed.output.closedUntil >= end,
    'a ledger item has no fence',
  )
  return item
}

/** Raises the window's fence. Answers the client's number of parts as that write found it. */
export const closeWindow = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  end: Timestamp,
): Promise<{ readonly parts: number }> => v.parse(WindowSchema, await raise(deps, windowKey(clientId), end))

/** Raises the fence of one shard. */
export const closeShard = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { part, shard }: ShardPlace,
  end: Timestamp,
): Promise<void> => {
  await raise(deps, shardKey(clientId, shard, part), end)
}
