import type { Deps } from '../deps.ts'
import type { Item } from './attributes.ts'
import type { QueryInput } from './table.ts'

/** A whole key range, page by page: nothing grows with its length. */
export const queryPages = async function* (
  deps: Pick<Deps, 'table'>,
  input: Omit<QueryInput, 'cursor'>,
  /** Where it begins; at the beginning by default. */
  from?: Item,
): AsyncGenerator<readonly Item[]> {
  let cursor = from
  do {
    const page = await deps.table.query({ ...input, ...(cursor && { cursor }) })
    yield page.items
    cursor = page.cursor
  } while (cursor)
}
