import { slotOf } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { type Item, toItem } from './attributes.ts'
import type { Key } from './keys.ts'
import { WORK_SLOTS, type Work } from './schema.ts'

/** Fields are named as in code; `set` skips undefined values. */
export type Changes = {
  readonly set?: Readonly<Record<string, unknown>>
  readonly setIfAbsent?: Readonly<Record<string, unknown>>
  readonly add?: Readonly<Record<string, number | Set<string>>>
  readonly remove?: readonly string[]
}

/** A step without a condition is in a transaction that another step's condition guards. */
export type Step =
  | {
      readonly kind: 'put'
      readonly key: Key
      readonly item: Item
      readonly condition: Condition | undefined
    }
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

/** Stores compose conditions as plain data; the table evaluates them. */
export type Condition =
  | {
      readonly test: 'equals' | 'atMost' | 'below' | 'above'
      readonly field: string
      readonly value: unknown
    }
  | { readonly test: 'absent' | 'present'; readonly field: string }
  | { readonly test: 'all' | 'any'; readonly of: readonly Condition[] }

export function put(key: Key, record: object, condition?: Condition): Step {
  return { kind: 'put', key, item: toItem(record), condition }
}

export function update(key: Key, changes: Changes, condition?: Condition) {
  return { kind: 'update' as const, key, changes, condition }
}

/** An update of open fields alone, which returns no item (table/access.ts). */
export function updateFields(key: Key, changes: Changes, condition: Condition): Step {
  return { ...update(key, changes, condition), returnsNothing: true }
}

export function remove(key: Key, condition: Condition): Step {
  return { kind: 'delete', key, condition }
}

export function guard(key: Key, condition: Condition): Step {
  return { kind: 'check', key, condition }
}

export function equals(field: string, value: unknown): Condition {
  return { test: 'equals', field, value }
}

export function atMost(field: string, value: unknown): Condition {
  return { test: 'atMost', field, value }
}

export function below(field: string, value: unknown): Condition {
  return { test: 'below', field, value }
}

export function above(field: string, value: unknown): Condition {
  return { test: 'above', field, value }
}

export function absent(field: string): Condition {
  return { test: 'absent', field }
}

export function present(field: string): Condition {
  return { test: 'present', field }
}

export function all(...conditions: readonly Condition[]): Condition {
  return { test: 'all', of: conditions }
}

export function any(...conditions: readonly Condition[]): Condition {
  return { test: 'any', of: conditions }
}

/** The field still has the value that was read, or is still absent. */
export function unchanged(field: string, value: unknown): Condition {
  return value === undefined ? absent(field) : equals(field, value)
}

export const isNew: Condition = absent('pk')
export const exists: Condition = present('pk')

/** Puts an item into the by-due index. The item's `id` attribute must be set too. */
export function dueWork(work: Work, id: string, dueAt: Timestamp) {
  return { work, slot: slotOf(id, WORK_SLOTS[work]), dueAt }
}

/** An item without these fields is not in the by-due index. */
export const DUE_WORK_FIELDS = ['work', 'slot', 'dueAt'] as const
