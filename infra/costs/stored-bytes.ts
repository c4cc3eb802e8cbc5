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

const attributeBytes = (item: object): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + bytesOf(value), 0)

type Index = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
  readonly include: readonly string[]
}

/** What an item takes up in the table and in every index that has it. */
export const storedBytes = (item: Readonly<Record<string, unknown>>, indexes: readonly Index[]): number => {
  const entries = indexes
    .filter(({ partition, sort }) => [...partition, ...sort].every((name) => item[name] !== undefined))
    .map(({ partition, sort, include }) => {
      const names = new Set(['pk', 'sk', ...partition, ...sort, ...include])
      return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)))
    })
  return [item, ...entries].reduce<number>((sum, one) => sum + attributeBytes(one) + OVERHEAD, 0)
}
