import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, SettlementIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { absent, all, atMost, exists, isNew, unchanged } from '../table/condition.ts'
import { reversalKey, reversalsPk, windowKey } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'
import { put, type Step, update } from '../table/step.ts'
import type { Range } from '../table/table.ts'
import { addMs, type Timestamp, TimestampSchema } from '../time.ts'
import type { Window } from './ledger-store.ts'

/**
 * A payment whose money went back before it was swept. It stays in the index of what was paid, with the same amounts:
 * whoever sums a window takes these out again (design section 10). Of a part nothing is taken out: the settlement that
 * sweeps it is marked. What came again is numbered too: either it makes the deduction nothing, or, where a settlement has
 * swept the window without the payment, it adds the payment to the window it stands in.
 */
export const LedgerReversalSchema = v.object({
  paymentId: PaymentIdSchema,
  /** Where the payment stands in the order of what is settled. */
  paidAt: TimestampSchema,
  notionalMinor: MinorSchema,
  providerFeeMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  /** Numbers a client's reversals from 1, without a gap. */
  seq: v.number(),
  at: TimestampSchema,
  part: v.optional(v.literal(true)),
  /** Number of the item by which it came again: it deducts nothing any more. */
  undoneBy: v.optional(v.number()),
  /** Number of the item that this one makes nothing. */
  undoes: v.optional(v.number()),
  reinstated: v.optional(v.literal(true)),
  /** The settlement that a reinstated payment was left out of; absent where it was deducted before. */
  leftOutOf: v.optional(SettlementIdSchema),
})
export type LedgerReversal = v.InferOutput<typeof LedgerReversalSchema>

/** Puts a reversal down under its number, once. */
export const putReversal = (clientId: ClientId, reversal: LedgerReversal): Step =>
  put(reversalKey(clientId, reversal.paidAt, reversal.seq), reversal, isNew)

/** Makes a deduction nothing, once. Its payment came again before it was swept. */
export const endDeduction = (clientId: ClientId, { paidAt, seq }: LedgerReversal, undoneBy: number): Step =>
  update(reversalKey(clientId, paidAt, seq), { set: { undoneBy } }, all(exists, absent('undoneBy')))

/** Whether its payment is taken out of the window it stands in. */
export const isDeducted = ({ part, undoneBy, undoes, reinstated }: LedgerReversal): boolean =>
  part === undefined && undoneBy === undefined && undoes === undefined && reinstated === undefined

/** Whether a part of its payment went back. */
export const isPart = ({ part }: LedgerReversal): boolean => part === true

/** Whether its payment is added to the window it stands in. */
export const isReinstated = ({ reinstated }: LedgerReversal): boolean => reinstated === true

/**
 * Numbers one more reversal of a payment that no settlement has swept, or one that came again. Refused when one has swept
 * where it stands, or when another was numbered since the window was read: so a sweep and a reversal of the same window
 * never pass each other.
 */
export const countReversal = (clientId: ClientId, paidAt: Timestamp, { reversalSeq }: Window): Step =>
  update(
    windowKey(clientId),
    { set: { reversalSeq: (reversalSeq ?? 0) + 1 } },
    all(atMost('settledUntil', paidAt), unchanged('reversalSeq', reversalSeq)),
  )

const PAGE = 500

/** A client's reversals by when their payments were paid, read consistently: they are few. All, or those of a range. */
export const findReversals = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  range?: Range,
): Promise<readonly LedgerReversal[]> => {
  const found: LedgerReversal[] = []
  const input = { partition: [reversalsPk(clientId)], limit: PAGE, ...(range && { range }) }
  for await (const items of queryPages(deps, input)) {
    found.push(...items.map((item) => v.parse(LedgerReversalSchema, item)))
  }
  return found
}

/** The reversals of a span of paid_at, end excluded. */
export const reversalsBetween = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  { start, end }: { readonly start: Timestamp; readonly end: Timestamp },
): Promise<readonly LedgerReversal[]> =>
  // Behind the last millisecond stand the numbers of its reversals.
  end <= start ? [] : findReversals(deps, clientId, { between: [start, `${addMs(end, -1)}~`] })

/** Which payments these take out of the window. */
export const deductedIn = (reversals: readonly LedgerReversal[]): ReadonlySet<PaymentId> =>
  new Set(reversals.filter(isDeducted).map(({ paymentId }) => paymentId))

/** Parts that went back of payments which these leave in the window: what is taken out whole is in no settlement. */
export const standingParts = (reversals: readonly LedgerReversal[]): readonly LedgerReversal[] => {
  const gone = deductedIn(reversals)
  return reversals.filter((reversal) => isPart(reversal) && !gone.has(reversal.paymentId))
}
