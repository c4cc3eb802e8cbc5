import type { Deps } from '../deps.ts'
import { firstOfPage } from '../page.ts'
import { fieldName, type Item } from './attributes.ts'
import { foundKey, type Key } from './keys.ts'
import { type ListInput, listItems } from './list-items.ts'
import { mergedPages, shareOf } from './merged-pages.ts'
import { TABLE_SCHEMA } from './schema.ts'

export type MergedListInput = Omit<ListInput, 'partition'> & {
  /** For each partition the values of its attributes, in the schema's order. */
  readonly partitions: readonly (readonly unknown[])[]
}

/** The maximum number of keys of one query before a deep page; the keys of all parts are in memory. */
const MAX_KEYS = 1_000

/**
 * One page of a list in several partitions, newest first, like `listItems` for one partition. The first page costs one
 * query for each partition. For a deep page the keys before it are read, because their times decide the order.
 */
export const listMergedItems = async (
  deps: Pick<Deps, 'table'>,
  { partitions, ...input }: MergedListInput,
): Promise<readonly Item[]> => {
  const [partition, ...others] = partitions
  if (partition && others.length === 0) return listItems(deps, { ...input, partition })
  const { index, kind, page, reads } = input
  const keys = await collect(deps, { index, kind, partitions }, firstOfPage(page), page.perPage)
  const items = await deps.table.getMany(keys, reads)
  const fields = TABLE_SCHEMA.indexes[index].partition.map(fieldName)
  const belongs = (item: Item) => partitions.some((values) => fields.every((field, at) => item[field] === values[at]))
  return items.filter((item): item is Item => item !== undefined && belongs(item))
}

const collect = async (
  deps: Pick<Deps, 'table'>,
  { index, kind, partitions }: Pick<MergedListInput, 'index' | 'kind' | 'partitions'>,
  first: number,
  count: number,
): Promise<readonly Key[]> => {
  // An equal share of the keys before the page, and the whole page.
  const limit = Math.min(shareOf(first, partitions) + count, MAX_KEYS)
  const keys: Key[] = []
  let passed = 0
  for await (const { items } of mergedPages(deps, { index, partitions, newestFirst: true, limit })) {
    keys.push(...items.slice(Math.max(0, first - passed)).map((item) => foundKey(kind, item)))
    passed += items.length
    if (keys.length >= count) break
  }
  return keys.slice(0, count)
}
