/** What DynamoDB bills on top of each item, and of each entry of an index. */
const OVERHEAD = 100
const CONTAINER = 3

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + bytesOf(one) + 1, CONTAINER)
  if (typeof value === 'object' && value !== null) return CONTAINER + attributeBytes(value)
  return 1
}

/** Names and values, in bytes. */
export const attributeBytes = (item: object): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + bytesOf(value), 0)

export type Index = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
  readonly include: readonly string[]
}

type Item = Readonly<Record<string, unknown>>

/** What an index keeps of an item; undefined when it does not have it. */
export const indexEntry = (item: Item, { partition, sort, include }: Index): Item | undefined => {
  const keys = [...partition, ...sort]
  if (keys.some((name) => item[name] === undefined)) return undefined
  return Object.fromEntries(
    ['pk', 'sk', ...keys, ...include].flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])),
  )
}

/** What an item takes up in the table and in every index that has it. */
export const storedBytes = (item: Item, indexes: readonly Index[]): number => {
  const entries = indexes.map((index) => indexEntry(item, index)).filter((entry) => entry !== undefined)
  return [item, ...entries].reduce<number>((sum, one: Item) => sum + attributeBytes(one) + OVERHEAD, 0)
}
