/** A condition as plain data: stores name and compose it, the table evaluates it. Fields are named as in code. */
export type Condition =
  | {
      readonly test: 'equals' | 'atMost' | 'below' | 'above' | 'contains'
      readonly field: string
      readonly value: unknown
    }
  | { readonly test: 'absent' | 'present'; readonly field: string }
  | { readonly test: 'all' | 'any'; readonly of: readonly Condition[] }

export const equals = (field: string, value: unknown): Condition => ({ test: 'equals', field, value })

export const absent = (field: string): Condition => ({ test: 'absent', field })

/** The field still has the value that was read, or is still absent. */
export const unchanged = (field: string, value: unknown): Condition =>
  value === undefined ? absent(field) : equals(field, value)

export const present = (field: string): Condition => ({ test: 'present', field })

export const atMost = (field: string, value: unknown): Condition => ({ test: 'atMost', field, value })

export const below = (field: string, value: unknown): Condition => ({ test: 'below', field, value })

export const above = (field: string, value: unknown): Condition => ({ test: 'above', field, value })

export const contains = (field: string, value: unknown): Condition => ({ test: 'contains', field, value })

export const all = (...conditions: readonly Condition[]): Condition => ({ test: 'all', of: conditions })

export const any = (...conditions: readonly Condition[]): Condition => ({ test: 'any', of: conditions })

/** No item exists under this key. */
export const isNew: Condition = absent('pk')

/** An item exists under this key. */
export const exists: Condition = present('pk')
