import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { below } from '../table/condition.ts'
import { shardKey, windowKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import type { ShardPlace } from './shard-store.ts'
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
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  end: Timestamp,
): Promise<{ readonly parts: number }> => {
  const raised = await deps.table.write(update(windowKey(clientId), { set: { closedUntil: end } }, isLower(end)))
  return v.parse(WindowSchema, fenced(raised, end))
}

/** Raises the fence of one shard. */
export const closeShard = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { part, shard }: ShardPlace,
  end: Timestamp,
): Promise<void> => {
  fenced(
    await deps.table.write(update(shardKey(clientId, shard, part), { set: { closedUntil: end } }, isLower(end))),
    end,
  )
}
