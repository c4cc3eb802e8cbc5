import * as v from 'valibot'
import { invalid } from '../errors.ts'
import { ClientIdSchema } from '../ids.ts'
import { BookDaySchema } from '../journal/day-totals.ts'
import { MinorSchema } from '../money.ts'
import { CURSOR_JSON, encodeCursor } from '../page.ts'
import { TimestampSchema } from '../time.ts'

/** How far the books of all clients are read, with their sums: nothing is kept in the table. */
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

/** What a cursor holds. Throws 422 for any other text. */
export const progressIn = (cursor: string): v.InferOutput<typeof Progress> => {
  const parsed = v.safeParse(v.pipe(CURSOR_JSON, Progress), cursor)
  if (parsed.success) return parsed.output
  const reason = 'must be the cursor of the run before'
  throw invalid(`cursor: ${reason}`, { cursor: [reason] }, 'Leave it out to begin with the first client.')
}
