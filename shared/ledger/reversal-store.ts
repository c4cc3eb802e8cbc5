import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { all, atMost, isNew, unchanged } from '../table/condition.ts'
import { reversalKey, reversalsPk, windowKey } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'
import { put, type Step, update } from '../table/step.ts'
import type { Range } from '../table/table.ts'
import { addMs, type Timestamp, TimestampSchema } from '../time.ts'
import type { Window } from './ledger-store.ts'

/**
 * A payment whose money went back before it was swept. It stays in the index of what was paid, with the same amounts:
 * whoever sums a window takes these out again (design section 10). Of a part nothing is taken out: the settlement that
 * sweeps it is marked.
 */
export const LedgerReversalSchema = v.object({
  paymentId: PaymentIdSchema,
  paidAt: TimestampSchema,
  notionalMinor: MinorSchema,
  providerFeeMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  /** Numbers a client's reversals from 1, without a gap. */
  seq: v.number(),
  at: TimestampSchema,
  part: v.optional(v.literal(true)),
})
export type LedgerReversal = v.InferOutput<typeof LedgerReversalSchema>

/** Puts a reversal down under its number, once. */
export const putReversal = (clientId: ClientId, reversal: LedgerReversal): Step =>
  put(reversalKey(clientId, reversal.paidAt, reversal.seq), reversal, isNew)

/** Whether its payment is taken out of the ledger. */
export const isDeducted = ({ part }: LedgerReversal): boolean => part === undefined

/**
 * Numbers one more reversal of a payment that no settlement has swept. Refused when one has, or when another reversal was
 * numbered since the window was read: so a sweep and a reversal of the same window never pass each other.
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

/** Which of these payments were taken out before they were swept; their times are those of the index. */
export const reversedAmong = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  payments: readonly { readonly paidAt: Timestamp }[],
): Promise<ReadonlySet<PaymentId>> => {
  const [first, last] = [payments.at(0), payments.at(-1)]
  if (first === undefined || last === undefined) return new Set()
  const span = { start: first.paidAt, end: addMs(last.paidAt, 1) }
  return new Set((await reversalsBetween(deps, clientId, span)).filter(isDeducted).map(({ paymentId }) => paymentId))
}
