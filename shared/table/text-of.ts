/** Equal values have one text: the table keeps no order of members. */
export function textOf(value: unknown) {
  return JSON.stringify(value, sorted) ?? 'unreadable'
}

function sorted(_: string, value: unknown) {
  if (value instanceof Set) return [...value].map(String).toSorted()
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value
}
