import type { Deps } from '../deps.ts'
import type { Item } from './attributes.ts'
import type { QueryInput } from './table.ts'

/** Yields a whole key range page by page, so that memory stays bounded. */
export const queryPages = async function* (
  deps: Pick<Deps, 'table'>,
  input: Omit<QueryInput, 'cursor'>,
  /** Start position; default: the beginning. */
  from?: Item,
): AsyncGenerator<readonly Item[]> {
  let cursor = from
  do {
    const page = await deps.table.query({ ...input, ...(cursor && { cursor }) })
    yield page.items
    cursor = page.cursor
  } while (cursor)
}
