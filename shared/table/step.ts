import { slotOf } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { type Item, toItem } from './attributes.ts'
import type { Key } from './keys.ts'
import { WORK_SLOTS, type Work } from './schema.ts'

/** Fields are named as in code; `set` skips undefined values. */
export type Changes = {
  readonly set?: Readonly<Record<string, unknown>>
  readonly setIfAbsent?: Readonly<Record<string, unknown>>
  readonly add?: Readonly<Record<string, number | Set<string> | undefined>>
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
  | UpdateStep
  | { readonly kind: 'delete'; readonly key: Key; readonly condition: Condition }
  | { readonly kind: 'check'; readonly key: Key; readonly condition: Condition }

/**
 * `Field` has every field that the step changes or compares. A function's role names these fields
 * and no others (functions/updated-fields.ts), so each field must be in the type.
 */
export type UpdateStep<Field extends string = string> = {
  readonly kind: 'update'
  readonly key: Key
  readonly changes: Changes
  readonly condition: Condition<Field> | undefined
  /** Neither success nor refusal returns the item. */
  readonly returnsNothing?: true
}

/** Stores compose conditions as plain data; the table evaluates them. */
export type Condition<Field extends string = string> =
  | {
      readonly test: 'equals' | 'atMost' | 'below' | 'above'
      readonly field: Field
      readonly value: unknown
    }
  | { readonly test: 'absent' | 'present'; readonly field: Field }
  | { readonly test: 'all' | 'any'; readonly of: readonly Condition<Field>[] }

export function put(key: Key, record: object, condition?: Condition): Step {
  return { kind: 'put', key, item: toItem(record), condition }
}

export function update<const C extends Changes, Compared extends string = never>(
  key: Key,
  changes: C & OnlyChanges<C>,
  condition?: Condition<Compared>,
): UpdateStep<NoInfer<NamesIn<C> | Compared>> {
  return { kind: 'update', key, changes, condition }
}

type OnlyChanges<C> = { readonly [Other in Exclude<keyof C, keyof Changes>]: never }

type NamesIn<C> = C extends unknown
  ? FieldsIn<C, 'set'> | FieldsIn<C, 'setIfAbsent'> | FieldsIn<C, 'add'> | RemovedIn<C>
  : never
type FieldsIn<C, Part extends string> = C extends { readonly [Name in Part]?: infer Fields }
  ? Fields extends unknown
    ? Extract<keyof Fields, string>
    : never
  : never
type RemovedIn<C> = C extends { readonly remove?: infer Names } ? MemberOf<Names> : never
type MemberOf<Names> = Names extends readonly (infer Name)[] ? Extract<Name, string> : never

/** An update that returns no item: its caller may not read the item (table/access.ts). */
export function updateFields<const C extends Changes, Compared extends string = never>(
  key: Key,
  changes: C & OnlyChanges<C>,
  condition: Condition<Compared>,
): UpdateStep<NoInfer<NamesIn<C> | Compared>> {
  return { ...update<C, Compared>(key, changes, condition), returnsNothing: true }
}

export function remove(key: Key, condition: Condition): Step {
  return { kind: 'delete', key, condition }
}

export function guard(key: Key, condition: Condition): Step {
  return { kind: 'check', key, condition }
}

export function equals<Field extends string>(field: Field, value: unknown): Condition<Field> {
  return { test: 'equals', field, value }
}

export function atMost<Field extends string>(field: Field, value: unknown): Condition<Field> {
  return { test: 'atMost', field, value }
}

export function below<Field extends string>(field: Field, value: unknown): Condition<Field> {
  return { test: 'below', field, value }
}

export function above<Field extends string>(field: Field, value: unknown): Condition<Field> {
  return { test: 'above', field, value }
}

export function absent<Field extends string>(field: Field): Condition<Field> {
  return { test: 'absent', field }
}

export function present<Field extends string>(field: Field): Condition<Field> {
  return { test: 'present', field }
}

export function all<Field extends string>(
  ...conditions: readonly Condition<Field>[]
): Condition<Field> {
  return { test: 'all', of: conditions }
}

export function any<Field extends string>(
  ...conditions: readonly Condition<Field>[]
): Condition<Field> {
  return { test: 'any', of: conditions }
}

/** The field still has the value that was read, or is still absent. */
export function unchanged<Field extends string>(field: Field, value: unknown): Condition<Field> {
  return value === undefined ? absent(field) : equals(field, value)
}

export const isNew = absent('pk')
export const exists = present('pk')

/** Puts an item into the by-due index. The item's `id` attribute must be set too. */
export function dueWork(work: Work, id: string, dueAt: Timestamp) {
  return { work, slot: slotOf(id, WORK_SLOTS[work]), dueAt }
}

/** An item without these fields is not in the by-due index. */
export const DUE_WORK_FIELDS = ['work', 'slot', 'dueAt'] as const
