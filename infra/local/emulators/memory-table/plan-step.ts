import type { Key } from '../../../../shared/table/keys.ts'
import type { Step } from '../../../../shared/table/step.ts'
import { checkItem, checkKey } from './check-item.ts'
import { readChanges } from './read-changes.ts'
import { readCondition } from './read-condition.ts'
import { type StoredItem, storedItem } from './stored-item.ts'

type Was = StoredItem | undefined

/** One step, after all checks that do not depend on the stored item. */
export type PlannedStep = {
  readonly key: Key
  readonly holds: (was: Was) => boolean
  /** The item after the step; undefined if there is none. Throws if the stored item does not allow the step. */
  readonly result: (was: Was) => Was
}

/** Throws if the step is invalid for every stored item. */
export const planStep = (step: Step): PlannedStep => {
  checkKey(step.key)
  const condition = step.condition ? readCondition(step.condition) : () => true
  return { key: step.key, holds: (was) => condition(was ?? {}), result: resultOf(step) }
}

const resultOf = (step: Step): PlannedStep['result'] => {
  switch (step.kind) {
    case 'put': {
      const item = storedItem({ ...step.item, ...step.key })
      const fault = checkItem(item)
      return () => accepted(item, fault)
    }
    case 'update': {
      const change = readChanges(step.changes)
      return (was = { ...step.key }) => {
        const item = change(was)
        return accepted(item, checkItem(item))
      }
    }
    case 'delete':
      return () => undefined
    // A check leaves the item unchanged.
    case 'check':
      return (was) => was
  }
}

const accepted = (item: StoredItem, fault: Error | undefined): StoredItem => {
  if (fault) throw fault
  return item
}
