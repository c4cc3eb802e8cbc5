import * as v from 'valibot'

const TextOrNull = v.nullable(v.string())
const NumberOrNull = v.nullable(v.number())

const Payout = v.object({
  id: v.string(),
  client_id: v.string(),
  status: v.string(),
  net_minor: v.number(),
  payment_count: v.number(),
  period_end: v.string(),
  bank_name: TextOrNull,
  bank_account_no: TextOrNull,
  bank_account_name: TextOrNull,
  notes: TextOrNull,
  recredited_at: TextOrNull,
  batch: NumberOrNull,
  warning: TextOrNull,
})
export type Payout = v.InferOutput<typeof Payout>

const Unreadable = { unreadable_ids: v.optional(v.array(v.string()), []) }

/** A list of settlements has pages with numbers; those of a period have a cursor. */
export const PayoutsSchema = v.object({
  data: v.array(Payout),
  cursor: v.optional(v.string()),
  ...Unreadable,
})

type Listed = { readonly data: readonly unknown[]; readonly unreadable_ids: readonly string[] }

export const PER_PAGE = 100

/** Unreadable rows count too. */
export function isFull({ data, unreadable_ids: ids }: Listed): boolean {
  return data.length + ids.length >= PER_PAGE
}

export function isReadable({ unreadable_ids: ids }: Listed): boolean {
  return ids.length === 0
}

/** The newest audit record of a batch says its state. */
export const BatchRecordsSchema = v.object({
  data: v.array(
    v.object({
      after: v.nullable(
        v.object({
          state: v.optional(v.picklist(['ready', 'cancelled'])),
          count: v.optional(v.number()),
          total_minor: v.optional(v.number()),
        }),
      ),
    }),
  ),
})

const File = v.union([
  v.object({ name: v.string(), text: v.string() }),
  v.object({ name: v.string(), rows: v.array(v.array(v.union([v.string(), v.number()]))) }),
])
export type PayoutFile = v.InferOutput<typeof File>

const LeftOut = v.object({
  settlement_id: v.string(),
  client_id: v.string(),
  amount_minor: NumberOrNull,
  reason: v.string(),
  command: TextOrNull,
})
export type LeftOut = v.InferOutput<typeof LeftOut>

/** The answer of payout-file. A long run continues with the cursor. */
export const PayoutRunSchema = v.object({
  batch: v.nullable(
    v.object({
      number: v.number(),
      state: v.string(),
      count: v.number(),
      total_minor: NumberOrNull,
    }),
  ),
  file: v.nullish(File),
  left_out: v.optional(v.array(LeftOut), []),
  continuing: v.optional(v.boolean(), false),
  cursor: v.optional(v.string()),
})
export type PayoutRun = v.InferOutput<typeof PayoutRunSchema>

export const AnsweredSchema = v.object({
  done: v.number(),
  failed: v.number(),
  refused: v.number(),
  lines: v.array(
    v.object({
      line: v.number(),
      settlement_id: v.string(),
      result: v.picklist(['done', 'failed', 'refused']),
      reason: v.optional(v.string()),
    }),
  ),
})
export type Answered = v.InferOutput<typeof AnsweredSchema>

const SuspenseItem = v.object({
  suspense_id: v.string(),
  kind: v.picklist(['money', 'finding', 'case']),
  cause: v.string(),
  amount_minor: NumberOrNull,
  payment_id: TextOrNull,
  status: v.picklist(['open', 'resolved']),
  created_at: v.string(),
  resolution: TextOrNull,
  refunded_minor: v.optional(v.number()),
  state: v.nullish(v.string()),
  due_at: v.nullish(v.string()),
})
export type SuspenseItem = v.InferOutput<typeof SuspenseItem>

/** `complete` is absent without a filter by kind, merchant or payment. */
export const SuspenseSchema = v.object({
  data: v.array(SuspenseItem),
  complete: v.optional(v.boolean(), true),
  ...Unreadable,
})
