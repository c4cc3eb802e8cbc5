import { slotOf } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { type Item, toItem } from './attributes.ts'
import type { Key } from './keys.ts'
import { WORK_SLOTS, type Work } from './schema.ts'

/** The changes of an update. Fields are named as in code; `set` skips undefined values. */
export type Changes = {
  readonly set?: Readonly<Record<string, unknown>>
  readonly setIfAbsent?: Readonly<Record<string, unknown>>
  readonly add?: Readonly<Record<string, number | Set<string>>>
  readonly remove?: readonly string[]
}

/** A step without a condition is in a transaction that another step's condition guards. */
export type Step =
  | { readonly kind: 'put'; readonly key: Key; readonly item: Item; readonly condition: Condition | undefined }
  | {
      readonly kind: 'update'
      readonly key: Key
      readonly changes: Changes
      readonly condition: Condition | undefined
      /** Neither success nor refusal returns the item. */
      readonly returnsNothing?: true
    }
  | { readonly kind: 'delete'; readonly key: Key; readonly condition: Condition }
  | { readonly kind: 'check'; readonly key: Key; readonly condition: Condition }

export const put = (key: Key, record: object, condition?: Condition): Step => ({
  kind: 'put',
  key,
  item: toItem(record),
  condition,
})

export const update = (key: Key, changes: Changes, condition?: Condition) => ({
  kind: 'update' as const,
  key,
  changes,
  condition,
})

/** An update of open fields alone, which returns no item (table/access.ts). */
export const updateFields = (key: Key, changes: Changes, condition: Condition): Step => ({
  ...update(key, changes, condition),
  returnsNothing: true,
})

export const remove = (key: Key, condition: Condition): Step => ({ kind: 'delete', key, condition })

/** Writes nothing; its condition must hold. */
export const guard = (key: Key, condition: Condition): Step => ({ kind: 'check', key, condition })

/** A condition as plain data: stores compose it, the table evaluates it. */
export type Condition =
  | { readonly test: 'equals' | 'atMost' | 'below' | 'above'; readonly field: string; readonly value: unknown }
  | { readonly test: 'absent' | 'present'; readonly field: string }
  | { readonly test: 'all' | 'any'; readonly of: readonly Condition[] }

export const equals = (field: string, value: unknown): Condition => ({ test: 'equals', field, value })
export const atMost = (field: string, value: unknown): Condition => ({ test: 'atMost', field, value })
export const below = (field: string, value: unknown): Condition => ({ test: 'below', field, value })
export const above = (field: string, value: unknown): Condition => ({ test: 'above', field, value })
export const absent = (field: string): Condition => ({ test: 'absent', field })
export const present = (field: string): Condition => ({ test: 'present', field })
export const all = (...conditions: readonly Condition[]): Condition => ({ test: 'all', of: conditions })
export const any = (...conditions: readonly Condition[]): Condition => ({ test: 'any', of: conditions })

/** The field still has the value that was read, or is still absent. */
export const unchanged = (field: string, value: unknown): Condition =>
  value === undefined ? absent(field) : equals(field, value)

export const isNew: Condition = absent('pk')
export const exists: Condition = present('pk')

/** The attributes that put an item into the by-due index. The item's `id` attribute must be set too. */
export const dueWork = (work: Work, id: string, dueAt: Timestamp) => ({
  work,
  slot: slotOf(id, WORK_SLOTS[work]),
  dueAt,
})

/** Removing these takes the item out of the by-due index. */
export const DUE_WORK_FIELDS = ['work', 'slot', 'dueAt'] as const
