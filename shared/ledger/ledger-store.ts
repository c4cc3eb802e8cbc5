import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { type ClientId, type PaymentId, slotOf } from '../ids.ts'
import { less, type Minor, MinorSchema, ZERO } from '../money.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../payment-status.ts'
import { ledgerPk, shardKey, shardNumberOf, WINDOW_SK } from '../table/keys.ts'
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
  inSettlementMinor: v.optional(MinorSchema),
  /** Nets of settlements paid out. settled = available + in settlement + paid out. */
  paidOutMinor: v.optional(MinorSchema),
  /** The settlements whose nets are in settlement. */
  openIds: v.optional(v.set(v.string())),
  /** Says that the three above are complete: from birth, or since the settlements of older releases were counted. */
  payoutsCounted: v.optional(v.literal(true)),
  changedAt: v.optional(TimestampSchema),
  /** Number of the client's latest reversal: a sweep is of the reversals up to it, or refused. */
  reversalSeq: v.optional(v.number()),
})
export type Window = v.InferOutput<typeof WindowSchema>

/** A shard that nothing has been written to. */
export const EMPTY_SHARD: LedgerShard = v.parse(ShardSchema, { number: -1 })

export type Ledger = { readonly shards: readonly LedgerShard[]; readonly window: Window | undefined }

/** A client's whole ledger in one consistent query: 17 small items, at ten payments and at ten million. */
export const readLedger = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Ledger> => {
  const { items, cursor } = await deps.table.query({ partition: [ledgerPk(clientId)], limit: LEDGER_SHARDS + 1 })
  assertInvariant(cursor === undefined || items.length === LEDGER_SHARDS + 1, 'a ledger fits one page')
  const isWindow = ({ sk }: Readonly<Record<string, unknown>>) => sk === WINDOW_SK
  const window = items.find(isWindow)
  return {
    shards: items
      .filter((item) => !isWindow(item))
      .map((item) => v.parse(ShardSchema, { ...item, number: shardNumberOf(String(item['sk'])) })),
    window: window && v.parse(WindowSchema, window),
  }
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
  readonly from: PaymentStatus | undefined
  readonly to: PaymentStatus
}

/** Where a payment is counted and credited. */
export const shardOf = ({ clientId, paymentId }: Pick<Counted, 'clientId' | 'paymentId'>) =>
  shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS))

const counts = ({ from, to }: Counted) => ({
  [COUNT_FIELD[to]]: 1,
  ...(from !== undefined && { [COUNT_FIELD[from]]: -1 }),
})

/** Counts a payment in its new status. Rides in the transaction whose condition lets the transition happen once. */
export const countTransition = (counted: Counted): Step => update(shardOf(counted), { add: counts(counted) })

/** Corrects a credit by the difference of an actual fee. Rides in the transaction that makes the fee final, once. */
export const correctCredit = (
  payment: Pick<Counted, 'clientId' | 'paymentId'>,
  differenceMinor: Minor,
  at: Timestamp,
): Step => update(shardOf(payment), { add: { creditedMinor: differenceMinor }, set: { creditedAt: at } })

/** Takes a credit out again, before any settlement has swept it. Its payment stays counted as succeeded. */
export const takeBackCredit = (
  payment: Pick<Counted, 'clientId' | 'paymentId'>,
  netMinor: Minor,
  at: Timestamp,
): Step => correctCredit(payment, less(ZERO, netMinor), at)

/** Credits a payment's net and counts it as succeeded. Rides in the transaction that marks it succeeded. */
export const credit = (counted: Omit<Counted, 'to'>, netMinor: Minor, at: Timestamp): Step =>
  update(shardOf(counted), {
    add: { ...counts({ ...counted, to: 'succeeded' }), creditedMinor: netMinor },
    set: { creditedAt: at },
  })
