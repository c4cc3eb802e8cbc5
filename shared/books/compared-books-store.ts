import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { unchanged } from '../table/condition.ts'
import { comparedBooksKey } from '../table/keys.ts'
import { put } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'
import { FiguresSchema } from './figures.ts'
import { SUBJECTS } from './told-differences.ts'

/** A client's books as they were compared last. */
const ComparedBooksSchema = v.object({
  version: v.number(),
  at: TimestampSchema,
  figures: FiguresSchema,
  /** What the ledger was, if it stood still and nothing is waited for: until it moves, the next would find the same. */
  stand: v.optional(v.string()),
  /** What was not explained, and since when it is the same. */
  differences: v.array(v.object({ subject: v.picklist(SUBJECTS), amountMinor: MinorSchema, since: TimestampSchema })),
  /** Of these, what was older than an hour. */
  unexplainedMinor: MinorSchema,
})
export type ComparedBooks = v.InferOutput<typeof ComparedBooksSchema>

/** Of several clients, in their order; undefined of one that was never compared. */
export const readComparedBooks = async (
  deps: Pick<Deps, 'table'>,
  clientIds: readonly ClientId[],
): Promise<readonly (ComparedBooks | undefined)[]> => {
  const items = await deps.table.getMany(clientIds.map(comparedBooksKey))
  return items.map((item) => item && v.parse(ComparedBooksSchema, item))
}

/** Kept only if nobody else has compared them since. */
export const keepComparedBooks = (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  books: Omit<ComparedBooks, 'version'>,
  last: ComparedBooks | undefined,
) => {
  const kept = { ...books, version: (last?.version ?? 0) + 1 }
  return deps.table.write(put(comparedBooksKey(clientId), kept, unchanged('version', last?.version)))
}
