const SURROGATE = /[\ud800-\udfff]/

/** DynamoDB sorts by UTF-8 bytes. This differs from JavaScript's order only for surrogate pairs. */
const textOrder = (a: string, b: string): number => {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

/** Undefined when the two have no order: different types, or types without one. */
export const orderOf = (a: unknown, b: unknown): number | undefined => {
  if (typeof a === 'string' && typeof b === 'string') return textOrder(a, b)
  return typeof a === 'number' && typeof b === 'number' ? a - b : undefined
}
