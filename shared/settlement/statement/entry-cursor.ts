import * as v from 'valibot'
import { invalid } from '../../errors.ts'
import { UuidSchema } from '../../ids.ts'
import type { EntryPosition, Span } from '../../journal/entry-store.ts'
import { CURSOR_JSON, encodeCursor } from '../../page.ts'
import { TimestampSchema } from '../../time.ts'

/** Where a page of entries ended, and of which list: a cursor cannot be used for another list. */
const CursorSchema = v.pipe(
  CURSOR_JSON,
  v.strictObject({ of: UuidSchema, eligible_at: TimestampSchema, id: UuidSchema }),
)

/** `of`: the settlement, or the client. */
export const entryCursor = (of: string, { eligibleAt, entryId }: EntryPosition): string =>
  encodeCursor({ of, eligible_at: eligibleAt, id: entryId })

/** The position in a cursor. Throws 422 for a cursor of another list or outside the span. */
export const positionIn = (
  { of, span }: { readonly of: string; readonly span: Span },
  text: string,
  field: 'cursor' | 'after',
): EntryPosition => {
  const parsed = v.safeParse(CursorSchema, text)
  const position = parsed.success && parsed.output.of === of ? parsed.output : undefined
  // DynamoDB refuses a start outside the queried span with its own error.
  if (position === undefined || position.eligible_at < span.start || position.eligible_at >= span.end) {
    const reason = 'must be the cursor of an earlier page of this list'
    throw invalid(`${field}: ${reason}`, { [field]: [reason] }, 'Leave it out to begin with the first page.')
  }
  return { eligibleAt: position.eligible_at, entryId: position.id }
}
