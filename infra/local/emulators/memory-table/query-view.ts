import type { QueryInput, Range } from '../../../../shared/table/table.ts'
import { type KeyValue, keyValue } from './check-item.ts'
import { InvalidRequest, itemSize, type StoredItem } from './stored-item.ts'
import { compareSort, type Entry, orderOf, type TableView, type ViewShape } from './table-view.ts'

const PAGE_BYTES = 1_024 * 1_024

export function queryView(view: TableView, { cursor, newestFirst = false, ...input }: QueryInput) {
  const { shape } = view
  if (!(input.limit >= 1)) throw new InvalidRequest('a page has at least one item')
  const partition = shape.partition.map((attribute, at) => keyValue(attribute, input.partition[at]))
  const bounds = boundsOf(shape.sort[0] ?? '', input.range)
  const start = cursor && startOf(shape, partition, cursor)
  // In the table, no item follows the item at the far bound. An index may have more items with the
  // same sort attribute.
  const farBound = input.index === undefined && (newestFirst ? bounds.low : bounds.high)
  if (start && (!isWithin(bounds, start[0]) || start[0] === farBound))
    throw new InvalidRequest('a cursor out of range')
  const isAfterCursor = ({ sort }: Entry) =>
    !start || (newestFirst ? compareSort(sort, start) < 0 : compareSort(sort, start) > 0)
  const entries = view
    .partition(partition)
    .filter((entry) => isWithin(bounds, entry.sort[0]) && isAfterCursor(entry))
  if (newestFirst) entries.reverse()

  let bytes = 0
  const fullAt = entries.findIndex(
    ({ item }, at) => (bytes += itemSize(item)) >= PAGE_BYTES || at + 1 === input.limit,
  )
  const pageEntries = fullAt === -1 ? entries : entries.slice(0, fullAt + 1)
  const lastEntry = pageEntries.at(-1)
  // As in DynamoDB, a full page has a cursor even if no item follows. DynamoDB Local looks ahead if
  // bytes fill the page, and counts bytes of whole items instead of an index's entries.
  const nextCursor =
    lastEntry && fullAt !== -1 && lastEntry.sort[0] !== farBound
      ? cursorTo(shape, lastEntry.item)
      : undefined
  return { items: pageEntries.map(({ item }) => item), cursor: nextCursor }
}

type Bounds = { readonly low?: KeyValue; readonly high?: KeyValue; readonly beginning?: string }

function boundsOf(attribute: string, range: Range | undefined): Bounds {
  if (!range) return {}
  if ('atMost' in range) return { high: keyValue(attribute, range.atMost) }
  if ('beginsWith' in range) return { beginning: String(keyValue(attribute, range.beginsWith)) }
  const [low, high] = [keyValue(attribute, range.between[0]), keyValue(attribute, range.between[1])]
  if ((orderOf(low, high) ?? 1) > 0)
    throw new InvalidRequest('the lower bound is above the upper bound')
  return { low, high }
}

/** The cursor's entry may no longer exist. */
function startOf(
  shape: ViewShape,
  partition: readonly KeyValue[],
  cursor: StoredItem,
): Entry['sort'] {
  const values = new Map(
    cursorAttributes(shape).map((name) => [name, keyValue(name, cursor[name])]),
  )
  if (Object.keys(cursor).length !== values.size)
    throw new InvalidRequest('a cursor with other attributes')
  if (shape.partition.some((attribute, at) => cursor[attribute] !== partition[at])) {
    throw new InvalidRequest('a cursor of another partition')
  }
  return [...shape.sort, 'pk', 'sk'].flatMap((attribute) => values.get(attribute) ?? [])
}

function cursorAttributes({ partition, sort }: ViewShape) {
  return [...new Set([...partition, ...sort, 'pk', 'sk'])]
}

function isWithin({ low, high, beginning = '' }: Bounds, value: KeyValue | undefined) {
  return (
    (orderOf(low, value) ?? 0) <= 0 &&
    (orderOf(value, high) ?? 0) <= 0 &&
    String(value).startsWith(beginning)
  )
}

function cursorTo(shape: ViewShape, item: StoredItem): StoredItem {
  return Object.fromEntries(
    cursorAttributes(shape).map((attribute) => [attribute, item[attribute]]),
  )
}
