import * as v from 'valibot'
import { type Answer, NumberOrNull, numbers, TextOrNull, texts, Unreadable } from '../shapes.ts'

const Payout = v.object({
  ...texts('id', 'client_id', 'status', 'period_end'),
  ...numbers('net_minor', 'payment_count'),
  ...v.entriesFromList(
    ['bank_name', 'bank_account_no', 'bank_account_name', 'notes', 'recredited_at', 'warning'],
    TextOrNull,
  ),
  batch: NumberOrNull,
})
export type Payout = v.InferOutput<typeof Payout>

/** A list of settlements has pages with numbers; those of a period have a cursor. */
export const PayoutsSchema = v.object({
  data: v.array(Payout),
  cursor: v.optional(v.string()),
  ...Unreadable,
})

export function isReadable({
  unreadable_ids: ids,
}: {
  readonly unreadable_ids: readonly string[]
}) {
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

/** A function that was taken over must not choose the folder. */
const Name = v.pipe(v.string(), v.regex(/^payout-[\w-]+\.(csv|xlsx)$/))
const Spreadsheet = v.object({
  name: Name,
  rows: v.array(v.array(v.union([v.string(), v.number()]))),
})
export type Spreadsheet = v.InferOutput<typeof Spreadsheet>
const File = v.union([v.object({ name: Name, text: v.string() }), Spreadsheet])
export type PayoutFile = v.InferOutput<typeof File>

/** Every cell but a number is text, also a cell that a person fills in later. */
export function cellsOf({ rows }: Spreadsheet) {
  return rows.map((row) =>
    row.map((value) =>
      typeof value === 'number' ? value : { value, type: String, format: '@' as const },
    ),
  )
}

const LeftOut = v.object({
  ...texts('settlement_id', 'client_id', 'reason'),
  amount_minor: NumberOrNull,
  command: TextOrNull,
  confirm: v.optional(v.record(v.string(), v.unknown())),
})
export type LeftOut = v.InferOutput<typeof LeftOut>

/** The answer of payout-file. A long run continues with the cursor. */
export const PayoutRunSchema = v.object({
  batch: v.nullable(
    v.object({
      ...numbers('number', 'count'),
      state: v.string(),
      total_minor: NumberOrNull,
      digest: TextOrNull,
    }),
  ),
  file: v.nullish(File),
  left_out: v.optional(v.array(LeftOut), []),
  continuing: v.optional(v.boolean(), false),
  cursor: v.optional(v.string()),
})
export type PayoutRun = v.InferOutput<typeof PayoutRunSchema>

/** A run takes about a thousand settlements. */
const MOST_RUNS = 500

/** Runs until nothing is left. `stoppedBy`: why a later run does not follow. */
export async function allRuns(first: Answer, next: (cursor: string) => Promise<Answer>) {
  const runs: PayoutRun[] = []
  for (let answer = first; ; ) {
    const { message, status } = answer
    const run = v.safeParse(PayoutRunSchema, answer.body)
    if (!answer.ok || !run.success)
      return { runs, stoppedBy: runs.length > 0 ? message || `HTTP ${status}` : undefined }
    runs.push(run.output)
    const { continuing, cursor } = run.output
    if (!continuing || cursor === undefined) return { runs, stoppedBy: undefined }
    if (runs.length === MOST_RUNS)
      return { runs, stoppedBy: `${MOST_RUNS} runs are done. Make the next batch again.` }
    answer = await next(cursor)
  }
}

export const AnsweredSchema = v.object({
  ...numbers('done', 'failed', 'refused'),
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
  ...texts('suspense_id', 'cause', 'created_at'),
  kind: v.picklist(['money', 'finding', 'case']),
  amount_minor: NumberOrNull,
  payment_id: TextOrNull,
  status: v.picklist(['open', 'resolved']),
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
