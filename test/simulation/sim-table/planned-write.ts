import type { Step } from '../../../shared/table/step.ts'
import type { StoredItem, Value } from './attribute-value.ts'
import { type ItemRules, refuseEmptyNames } from './item-rules.ts'
import { valueSize } from './item-size.ts'
import { readChanges } from './read-changes.ts'
import { ALWAYS, readCondition } from './read-condition.ts'
import type { ItemKey } from './table-change.ts'
import { itemInvalid } from './table-errors.ts'

/** One step, checked for all that does not depend on the item that is there. */
export type PlannedWrite = {
  readonly key: ItemKey
  readonly holds: (was: StoredItem | undefined) => boolean
  /** What it adds to the size of a transaction's request. */
  readonly bytes: number
  /** The item after the write; undefined when there is none. Throws a validation error when the item does not allow it. */
  readonly result: (was: StoredItem | undefined) => { readonly item: StoredItem | undefined; readonly size: number }
}

const EMPTY = {}

/** Throws a validation error when the step is invalid whatever is stored. */
export const planWrite = (rules: ItemRules, step: Step): PlannedWrite => {
  const condition = step.condition ? readCondition(step.condition) : ALWAYS
  const holds: PlannedWrite['holds'] = (was) => condition.holds(was ?? EMPTY)
  switch (step.kind) {
    case 'put': {
      const { key, item, size } = rules.itemIn({ ...step.item, ...step.key })
      return { key, holds, bytes: size, result: () => ({ item, size }) }
    }
    case 'update':
      return { holds, ...planUpdate(rules, step, condition.values) }
    case 'delete':
      return { key: rules.keyIn(step.key), holds, bytes: 0, result: () => ({ item: undefined, size: 0 }) }
    // A check writes the item as it is.
    case 'check':
      return { key: rules.keyIn(step.key), holds, bytes: 0, result: (was) => ({ item: was, size: 0 }) }
  }
}

const planUpdate = (
  rules: ItemRules,
  step: Extract<Step, { readonly kind: 'update' }>,
  compared: readonly Value[],
): Omit<PlannedWrite, 'holds'> => {
  const changes = readChanges(step.changes)
  const values = [...changes.operands, ...compared]
  values.forEach(refuseEmptyNames)
  const key = rules.keyIn(step.key)
  if (changes.attributes.some(rules.isKeyAttribute)) {
    throw itemInvalid('One or more parameter values were invalid: Cannot update attribute that is part of the key')
  }
  return {
    key,
    bytes: values.reduce<number>((sum, value) => sum + valueSize(value), 0),
    result: (was) => {
      const item = changes.applyTo(was ?? { ...key })
      return { item, size: rules.checkStored(item) }
    },
  }
}
