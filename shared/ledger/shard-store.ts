import * as v from 'valibot'
import { type ClientId, type PaymentId, slotOf } from '../ids.ts'
import { type Minor, MinorSchema, ZERO } from '../money.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { fieldsFrom } from '../table/attributes.ts'
import { type Key, shardKey } from '../table/keys.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import {
  atMost,
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

/** Credits, and the number of payments in each status. */
export const ShardSchema = v.object({
  number: v.number(),
  /** Nets of the shard's entries, without re-credits, and of its open payments. */
  creditedMinor: v.optional(MinorSchema, ZERO),
  creditedAt: v.optional(TimestampSchema),
  /** The fence: no entry of this shard is posted before this time. */
  closedUntil: TimestampSchema,
  ...v.entriesFromList(Object.values(COUNT_FIELD), count),
})
export type LedgerShard = v.InferOutput<typeof ShardSchema>

export function putShards(
  clientId: ClientId,
  closedUntil: Timestamp,
): Readonly<Record<string, Step>> {
  return Object.fromEntries(
    Array.from({ length: LEDGER_SHARDS }, (_, shard) => [
      `shard ${shard}`,
      put(shardKey(clientId, shard), shardRow({ closedUntil }), isNew),
    ]),
  )
}

/** A sum of zero is absent until its first change. */
export function shardRow(shard: Pick<LedgerShard, 'closedUntil'> & Partial<LedgerShard>) {
  return { ...shard, number: undefined }
}

type PlacedPayment = { readonly clientId: ClientId; readonly paymentId: PaymentId }

export function shardOf({ clientId, paymentId }: PlacedPayment): Key {
  return shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS))
}

type CountedPayment = PlacedPayment & {
  readonly from: PaymentStatus | undefined
  readonly to: PaymentStatus
}

/** Another step of the transaction lets the transition happen once. */
export function countTransition(payment: CountedPayment): Step {
  return updateFields(shardOf(payment), { add: countChanges(payment) }, exists)
}

function countChanges({ from, to }: Pick<CountedPayment, 'from' | 'to'>) {
  const left = from === undefined ? [] : [[COUNT_FIELD[from], -1] as const]
  return fieldsFrom([[COUNT_FIELD[to], 1], ...left])
}

export function creditShard(
  payment: Omit<CountedPayment, 'to'>,
  netMinor: Minor,
  at: Timestamp,
): Step {
  const { add, set } = creditChanges(netMinor, at)
  return updateFields(
    shardOf(payment),
    { add: { ...countChanges({ ...payment, to: 'succeeded' }), ...add }, set },
    exists,
  )
}

function creditChanges(netMinor: Minor, at: Timestamp) {
  return { add: { creditedMinor: netMinor }, set: { creditedAt: at } }
}

/** No entry of an open payment is written yet. */
export function moveOpenCredit(payment: PlacedPayment, netMinor: Minor, at: Timestamp): Step {
  return update(shardOf(payment), creditChanges(netMinor, at), exists)
}

/** Moves a payment's credit with its entries. Refused if the journal is closed at `postedAt`. */
export function moveCredit(payment: PlacedPayment, netMinor: Minor, postedAt: Timestamp): Step {
  return netMinor === 0
    ? guard(shardOf(payment), isOpenAt(postedAt))
    : update(shardOf(payment), creditChanges(netMinor, postedAt), isOpenAt(postedAt))
}

function isOpenAt(postedAt: Timestamp) {
  return atMost('closedUntil', postedAt)
}

/** An adjustment belongs to no payment: always the first shard. Refused like `moveCredit`. */
export function adjustCredit(clientId: ClientId, amountMinor: Minor, postedAt: Timestamp): Step {
  return update(shardKey(clientId, 0), creditChanges(amountMinor, postedAt), isOpenAt(postedAt))
}
