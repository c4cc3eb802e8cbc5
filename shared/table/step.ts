import { type Item, toItem } from './attributes.ts'
import type { Condition } from './condition.ts'
import type { Key } from './keys.ts'

/** The changes of an update. Fields are named as in code; `set` skips undefined values. */
export type Changes = {
  readonly set?: Readonly<Record<string, unknown>>
  readonly setIfAbsent?: Readonly<Record<string, unknown>>
  readonly add?: Readonly<Record<string, number | Set<string>>>
  readonly deleteFromSet?: Readonly<Record<string, Set<string>>>
  readonly remove?: readonly string[]
}

/** The write of one item. A step without a condition is in a transaction that another step's condition guards. */
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

export const update = (key: Key, changes: Changes, condition?: Condition): Step => ({
  kind: 'update',
  key,
  changes,
  condition,
})

/**
 * An update whose changes and condition use only open fields, and which returns no item. A function may be granted only
 * these fields (table/access.ts).
 */
export const updateFields = (key: Key, changes: Changes, condition: Condition): Step => ({
  kind: 'update',
  key,
  changes,
  condition,
  returnsNothing: true,
})

export const remove = (key: Key, condition: Condition): Step => ({ kind: 'delete', key, condition })

/** Writes nothing; its condition must hold. */
export const guard = (key: Key, condition: Condition): Step => ({ kind: 'check', key, condition })
