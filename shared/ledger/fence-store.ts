import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { shardKey, windowKey } from '../table/keys.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { below, type Step, update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

export const FenceSchema = v.object({ closedUntil: TimestampSchema })

/** How long an entry that was committed before the fence may stay invisible to a query. */
export const VISIBLE_AFTER_MS = 1_000

/**
 * Closes a client's journal before `end` (design sections 4 and 12): after that every transaction
 * with an earlier entry is refused. The window's fence is raised first. Safe to repeat; a fence
 * without a settlement is harmless.
 */
export async function raiseFence(
  deps: TableDeps,
  clientId: ClientId,
  end: Timestamp,
): Promise<void> {
  const changes = { set: { closedUntil: end } }
  const isLower = below('closedUntil', end)
  await raiseItem(deps, update(windowKey(clientId), changes, isLower), end)
  await Promise.all(
    Array.from({ length: LEDGER_SHARDS }, (_, shard) =>
      raiseItem(deps, update(shardKey(clientId, shard), changes, isLower), end),
    ),
  )
}

/** A higher fence stays. Throws when there is no item. */
async function raiseItem(deps: TableDeps, step: Step, end: Timestamp) {
  const { item } = await deps.table.write(step)
  const { closedUntil = '' } = ifValid(FenceSchema, item) ?? {}
  assertInvariant(item !== undefined && closedUntil >= end, 'a ledger item has no fence')
}
