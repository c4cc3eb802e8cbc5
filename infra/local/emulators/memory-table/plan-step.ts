import type { Key } from '../../../../shared/table/keys.ts'
import type { Step } from '../../../../shared/table/step.ts'
import { checkItem, checkKey } from './check-item.ts'
import { readChanges } from './read-changes.ts'
import { readCondition } from './read-condition.ts'
import { type StoredItem, storedItem } from './stored-item.ts'

type Was = StoredItem | undefined

/** One step, checked for all that does not depend on the item that is there. */
export type PlannedStep = {
  readonly key: Key
  readonly holds: (was: Was) => boolean
  /** The item after the step; undefined when there is none. Throws when the item does not allow it. */
  readonly result: (was: Was) => Was
}

/** Throws when the step is invalid whatever is stored. */
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
    // A check writes the item as it is.
    case 'check':
      return (was) => was
  }
}

const accepted = (item: StoredItem, fault: Error | undefined): StoredItem => {
  if (fault) throw fault
  return item
}
