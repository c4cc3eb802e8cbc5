import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { type ClientId, type PaymentId, slotOf } from '../ids.ts'
import { type Minor, MinorSchema, ZERO } from '../money.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { type Key, shardKey } from '../table/keys.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import {
  absent,
  any,
  atMost,
  below,
  exists,
  guard,
  isNew,
  put,
  type Step,
  update,
  updateFields,
} from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

export const COUNT_FIELD = {
  pending: 'countPending',
  succeeded: 'countSucceeded',
  failed: 'countFailed',
  expired: 'countExpired',
  cancelled: 'countCancelled',
} as const satisfies Record<PaymentStatus, string>

const count = v.optional(v.pipe(v.number(), v.safeInteger()), 0)

/** One of a client's ledger shards: credits, and the number of payments in each status. */
export const ShardSchema = v.object({
  /** Numbered through all parts. */
  number: v.number(),
  /** Nets of its entries, without re-credits, and of its open payments. */
  creditedMinor: v.optional(MinorSchema, ZERO),
  creditedAt: v.optional(TimestampSchema),
  /** The fence: no entry of this shard is posted before it. */
  closedUntil: TimestampSchema,
  ...v.entriesFromList(Object.values(COUNT_FIELD), count),
})
export type LedgerShard = v.InferOutput<typeof ShardSchema>

export function allShards(parts: number) {
  return Array.from({ length: parts * LEDGER_SHARDS }, (_, at) => ({
    part: Math.floor(at / LEDGER_SHARDS),
    shard: at % LEDGER_SHARDS,
  }))
}

/** An empty shard of a new client's first part, with its fence. */
export function newShard(clientId: ClientId, shard: number, closedUntil: Timestamp): Step {
  return put(shardKey(clientId, shard), { closedUntil }, isNew)
}

type Placed = {
  readonly clientId: ClientId
  readonly paymentId: PaymentId
  readonly part?: number | undefined
}

export function shardOf({ clientId, paymentId, part }: Placed): Key {
  return shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS), part)
}

type Counted = Placed & { readonly from: PaymentStatus | undefined; readonly to: PaymentStatus }

/** Counts a payment in its new status. The transaction's other steps let the transition happen once. */
export function countTransition(counted: Counted): Step {
  return updateFields(shardOf(counted), { add: counts(counted) }, exists)
}

function counts({ from, to }: Pick<Counted, 'from' | 'to'>) {
  return { [COUNT_FIELD[to]]: 1, ...(from !== undefined && { [COUNT_FIELD[from]]: -1 }) }
}

/** Credits a payment's net and counts it as succeeded. */
export function credit(counted: Omit<Counted, 'to'>, netMinor: Minor, at: Timestamp): Step {
  const { add, set } = credited(netMinor, at)
  return updateFields(
    shardOf(counted),
    { add: { ...counts({ ...counted, to: 'succeeded' }), ...add }, set },
    exists,
  )
}

function credited(netMinor: Minor, at: Timestamp) {
  return { add: { creditedMinor: netMinor }, set: { creditedAt: at } }
}

/** Moves the credit of an open payment, of which no entry is written yet. */
export function moveOpenCredit(payment: Placed, netMinor: Minor, at: Timestamp): Step {
  return update(shardOf(payment), credited(netMinor, at), exists)
}

/** Moves the credit together with entries of that time. Refused when a settlement has closed the journal after it. */
export function moveCredit(payment: Placed, netMinor: Minor, postedAt: Timestamp): Step {
  return netMinor === 0
    ? guard(shardOf(payment), isOpenAt(postedAt))
    : update(shardOf(payment), credited(netMinor, postedAt), isOpenAt(postedAt))
}

function isOpenAt(postedAt: Timestamp) {
  return atMost('closedUntil', postedAt)
}

/** The same for an adjustment, which belongs to no payment: always in the first shard. */
export function adjustCredit(clientId: ClientId, amountMinor: Minor, postedAt: Timestamp): Step {
  return update(shardKey(clientId, 0), credited(amountMinor, postedAt), isOpenAt(postedAt))
}

/** Writes the shards of new parts, with a fence, before a client has them. Never lowers a fence. Safe to repeat. */
export async function putShards(
  deps: TableDeps,
  clientId: ClientId,
  {
    first,
    parts,
    closedUntil,
  }: { readonly first: number; readonly parts: number; readonly closedUntil: Timestamp },
): Promise<void> {
  const added = allShards(parts).filter(({ part }) => part >= first)
  const isLower = any(absent('closedUntil'), below('closedUntil', closedUntil))
  await mapInChunks(added, 16, ({ part, shard }) =>
    deps.table.write(update(shardKey(clientId, shard, part), { set: { closedUntil } }, isLower)),
  )
}
