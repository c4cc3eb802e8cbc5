import * as v from 'valibot'
import { invalid } from '../errors.ts'
import { ClientIdSchema } from '../ids.ts'
import { BookDaySchema } from '../journal/day-totals.ts'
import { MinorSchema } from '../money.ts'
import { CURSOR_JSON, encodeCursor } from '../page.ts'
import { TimestampSchema } from '../time.ts'

/** The progress of the books of all clients, with their sums. Nothing is stored in the table. */
const Progress = v.strictObject({
  period: v.strictObject({ from: BookDaySchema, to: BookDaySchema }),
  book: v.record(v.string(), MinorSchema),
  differences: v.array(
    v.strictObject({
      what: v.string(),
      id: v.string(),
      expected: v.nullable(v.union([v.string(), v.number()])),
      found: v.nullable(v.union([v.string(), v.number()])),
    }),
  ),
  position: v.strictObject({ clientId: ClientIdSchema, createdAt: TimestampSchema }),
})

export const booksCursor = (progress: v.InferOutput<typeof Progress>): string => encodeCursor(progress)

/** The content of a cursor. Throws 422 for any other text. */
export const progressIn = (cursor: string): v.InferOutput<typeof Progress> => {
  const parsed = v.safeParse(v.pipe(CURSOR_JSON, Progress), cursor)
  if (parsed.success) return parsed.output
  const reason = 'must be the cursor of the run before'
  throw invalid(`cursor: ${reason}`, { cursor: [reason] }, 'Leave it out to begin with the first client.')
}
