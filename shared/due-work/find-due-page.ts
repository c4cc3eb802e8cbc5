import * as v from 'valibot'
import type { StoreDeps } from '../deps.ts'
import type { Item } from '../table/attributes.ts'
import type { Work } from '../table/schema.ts'
import { TimestampSchema } from '../time.ts'

const DueItemSchema = v.object({ pk: v.string(), sk: v.string(), id: v.string(), dueAt: TimestampSchema })

/** A row of the by-due index: the item may be due. The item itself decides. */
export type DueItem = v.InferOutput<typeof DueItemSchema>

export type DuePage = { readonly items: readonly DueItem[]; readonly cursor: Item | undefined }

/** One page of what is due by now in one slot, longest due first. */
export const findDuePage = async (
  deps: StoreDeps,
  input: { readonly work: Work; readonly slot: number; readonly limit: number; readonly cursor: Item | undefined },
): Promise<DuePage> => {
  const { items, cursor } = await deps.table.query({
    index: 'by-due',
    partition: [input.work, input.slot],
    range: { atMost: deps.now() },
    limit: input.limit,
    ...(input.cursor && { cursor: input.cursor }),
  })
  return { items: items.map((item) => v.parse(DueItemSchema, item)), cursor }
}
