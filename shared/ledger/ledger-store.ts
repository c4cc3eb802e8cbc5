import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { type ClientId, type PaymentId, slotOf } from '../ids.ts'
import { less, type Minor, MinorSchema, ZERO } from '../money.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { ledgerPk, shardKey, shardNumberOf, WINDOW_SK, windowKey } from '../table/keys.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { type Step, update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

const count = v.optional(v.pipe(v.number(), v.safeInteger()), 0)

/** One of a client's ledger shards: what was credited, and how many payments stand in each status. */
const ShardSchema = v.object({
  number: v.number(),
  creditedMinor: v.optional(MinorSchema, ZERO),
  creditedAt: v.optional(TimestampSchema),
  countPending: count,
  countSucceeded: count,
  countFailed: count,
  countExpired: count,
  countCancelled: count,
})
export type LedgerShard = v.InferOutput<typeof ShardSchema>

/** What settlements have taken: born with the client, touched by settlements only. */
export const WindowSchema = v.object({
  settledUntil: TimestampSchema,
  settledMinor: MinorSchema,
  availableMinor: MinorSchema,
  recreditedIds: v.optional(v.set(v.string())),
  /** Nets of settlements recorded, or failed and not yet recredited. */
  inSettlementMinor: MinorSchema,
  /** Nets of settlements paid out. settled = available + in settlement + paid out + reversed behind the sweep. */
  paidOutMinor: MinorSchema,
  /** The settlements whose nets are in settlement; absent when there are none. */
  openIds: v.optional(v.set(v.string())),
  /** How many parts the client has: whoever reads its payments asks all of them. One unless it says more. */
  parts: v.optional(v.number()),
  changedAt: v.optional(TimestampSchema),
  /** Nets of payments left out by a re-credit, or while they waited to be recorded again: they came and went. */
  reversedSweptMinor: v.optional(MinorSchema),
  /** Number of the client's latest reversal: a sweep is of the reversals up to it, or refused. */
  reversalSeq: v.optional(v.number()),
})
export type Window = v.InferOutput<typeof WindowSchema>

/** A shard that nothing has been written to. */
export const EMPTY_SHARD: LedgerShard = v.parse(ShardSchema, { number: -1 })

export type Ledger = {
  /** Numbered through all parts. */
  readonly shards: readonly LedgerShard[]
  readonly window: Window | undefined
  readonly parts: number
}

/** Where a shard is among those of all parts; below zero for one that should not be there. */
export const shardPlace = (shard: number, part = 0): number =>
  Number.isInteger(shard) && shard >= 0 && shard < LEDGER_SHARDS ? part * LEDGER_SHARDS + shard : -1

const isWindow = ({ sk }: Item) => sk === WINDOW_SK

const readPart = async (deps: Pick<Deps, 'table'>, clientId: ClientId, part: number) => {
  const partition = [ledgerPk(clientId, part)]
  const { items, cursor } = await deps.table.query({ partition, limit: LEDGER_SHARDS + 1 })
  assertInvariant(cursor === undefined || items.length === LEDGER_SHARDS + 1, 'a ledger fits one page')
  const shards = items
    .filter((item) => !isWindow(item))
    .map((item) => v.parse(ShardSchema, { ...item, number: shardPlace(shardNumberOf(String(item['sk'])), part) }))
  return { shards, window: items.find(isWindow) }
}

/**
 * A client's whole ledger: 17 small items in one consistent query, at ten payments and at ten million. Where it says that
 * the client has more parts, these are asked too, 16 items each, all at the same time.
 */
export const readLedger = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Ledger> => {
  const first = await readPart(deps, clientId, 0)
  const window = first.window && v.parse(WindowSchema, first.window)
  const parts = partsOf(window)
  const others = await Promise.all(Array.from({ length: parts - 1 }, (_, at) => readPart(deps, clientId, at + 1)))
  return { shards: [first, ...others].flatMap(({ shards }) => shards), window, parts }
}

export const partsOf = (window: Pick<Window, 'parts'> | undefined): number => window?.parts ?? 1

/** How many parts a client has, read consistently: whatever they hold was put there after the number was. */
export const readParts = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<number> => {
  const window = await deps.table.get(windowKey(clientId))
  return partsOf(window && v.parse(WindowSchema, window))
}

export const COUNT_FIELD = {
  pending: 'countPending',
  succeeded: 'countSucceeded',
  failed: 'countFailed',
  expired: 'countExpired',
  cancelled: 'countCancelled',
} as const satisfies Record<PaymentStatus, keyof LedgerShard>

export const countOf = (ledger: Ledger, status: PaymentStatus): number =>
  ledger.shards.reduce((sum, shard) => sum + shard[COUNT_FIELD[status]], 0)

export const countOfAll = (ledger: Ledger): number =>
  PAYMENT_STATUSES.reduce((sum, status) => sum + countOf(ledger, status), 0)

type Counted = {
  readonly clientId: ClientId
  readonly paymentId: PaymentId
  /** Of its client's parts; the first by default. */
  readonly part?: number | undefined
  readonly from: PaymentStatus | undefined
  readonly to: PaymentStatus
}

type Placed = Pick<Counted, 'clientId' | 'paymentId' | 'part'>

/** Where a payment is counted and credited. */
export const shardOf = ({ clientId, paymentId, part }: Placed) =>
  shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS), part)

const counts = ({ from, to }: Counted) => ({
  [COUNT_FIELD[to]]: 1,
  ...(from !== undefined && { [COUNT_FIELD[from]]: -1 }),
})

/** Counts a payment in its new status. Rides in the transaction whose condition lets the transition happen once. */
export const countTransition = (counted: Counted): Step => update(shardOf(counted), { add: counts(counted) })

/** Corrects a credit by the difference of an actual fee. Rides in the transaction that makes the fee final, once. */
export const correctCredit = (payment: Placed, differenceMinor: Minor, at: Timestamp): Step =>
  update(shardOf(payment), { add: { creditedMinor: differenceMinor }, set: { creditedAt: at } })

/** Takes a credit out again, before any settlement has swept it. Its payment stays counted as succeeded. */
export const takeBackCredit = (payment: Placed, netMinor: Minor, at: Timestamp): Step =>
  correctCredit(payment, less(ZERO, netMinor), at)

/** Credits a payment's net and counts it as succeeded. Rides in the transaction that marks it succeeded. */
export const credit = (counted: Omit<Counted, 'to'>, netMinor: Minor, at: Timestamp): Step =>
  update(shardOf(counted), {
    add: { ...counts({ ...counted, to: 'succeeded' }), creditedMinor: netMinor },
    set: { creditedAt: at },
  })
