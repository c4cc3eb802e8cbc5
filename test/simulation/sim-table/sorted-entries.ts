import type { StoredItem } from './attribute-value.ts'
import { compareScalars } from './compare-values.ts'

/** An item in the order of a table's or an index's partition. */
export type Entry = {
  /** The sort attributes, and behind an index's the primary key, so that no two entries are equal. */
  readonly sort: readonly (string | number)[]
  readonly item: StoredItem
  readonly size: number
}

/** One partition, ascending. */
export type Entries = readonly Entry[]

export const compareSort = (a: Entry['sort'], b: Entry['sort']): number => {
  for (let at = 0; at < a.length; at++) {
    const [left, right] = [a[at], b[at]]
    if (left === undefined || right === undefined) return 0
    const order = compareScalars(left, right)
    if (order !== 0) return order
  }
  return 0
}

/** Index of the first entry from which on `isBehind` holds. */
export const firstBehind = (entries: Entries, isBehind: (entry: Entry) => boolean): number => {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = entries[middle]
    if (entry && isBehind(entry)) high = middle
    else low = middle + 1
  }
  return low
}

const placeOf = (entries: Entries, sort: Entry['sort']) =>
  firstBehind(entries, (entry) => compareSort(entry.sort, sort) >= 0)

/** Puts the entry into its place, instead of one with the same sort attributes. */
export const insertEntry = (entries: Entry[], entry: Entry): void => {
  const at = placeOf(entries, entry.sort)
  const there = entries[at]
  entries.splice(at, there && compareSort(there.sort, entry.sort) === 0 ? 1 : 0, entry)
}

export const removeEntry = (entries: Entry[], sort: Entry['sort']): void => {
  const at = placeOf(entries, sort)
  const there = entries[at]
  if (there && compareSort(there.sort, sort) === 0) entries.splice(at, 1)
}
