/** One place where the books do not say what they must (design section 7). */
export type Difference = {
  readonly what: string
  readonly id: string
  readonly expected: string | number | null
  readonly found: string | number | null
}

type Value = string | number | null | undefined

/** No difference when both are the same; undefined counts as null. */
export const differs = (what: string, id: string, expected: Value, found: Value): readonly Difference[] =>
  (expected ?? null) === (found ?? null) ? [] : [{ what, id, expected: expected ?? null, found: found ?? null }]
