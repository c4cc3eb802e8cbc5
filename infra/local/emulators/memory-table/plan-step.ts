import { isDeepStrictEqual } from 'node:util'
import { attributeName } from '../../../../shared/table/attributes.ts'
import type { Changes, Condition, Step } from '../../../../shared/table/step.ts'
import { checkItem, checkKey } from './check-item.ts'
import { InvalidRequest, OutsideModel, type StoredItem, storedItem } from './stored-item.ts'
import { orderOf } from './table-view.ts'

type MaybeItem = StoredItem | undefined

/** Throws if the step is invalid for every stored item. */
export function planStep(step: Step) {
  checkKey(step.key)
  const condition = step.condition ? readCondition(step.condition) : () => true
  return {
    key: step.key,
    conditionHolds: (oldItem: MaybeItem) => condition(oldItem ?? {}),
    /** Undefined if no item is left. Throws if the stored item does not allow the step. */
    result: resultOf(step),
  }
}

type Test = (item: StoredItem) => boolean

const ORDERED_TESTS: ReadonlySet<string> = new Set(['atMost', 'below', 'above'])

/** A missing attribute equals nothing and has no order. */
const COMPARISONS = {
  equals: isDeepStrictEqual,
  below: (actual, wanted) => (orderOf(actual, wanted) ?? 0) < 0,
  atMost: (actual, wanted) => (orderOf(actual, wanted) ?? 1) <= 0,
  above: (actual, wanted) => (orderOf(actual, wanted) ?? 0) > 0,
} as const satisfies Record<string, (actual: unknown, wanted: unknown) => boolean>

/** Throws if the condition is invalid for every item: no value to compare with, or no order. */
function readCondition(condition: Condition): Test {
  switch (condition.test) {
    case 'all':
    case 'any': {
      const tests = condition.of.map(readCondition)
      if (tests.length === 0) throw new InvalidRequest('a condition without conditions')
      if (condition.test === 'all') return (item) => tests.every((test) => test(item))
      return (item) => tests.some((test) => test(item))
    }
    case 'absent':
    case 'present': {
      const [attribute, mustExist] = [attributeName(condition.field), condition.test === 'present']
      return (item) => (item[attribute] !== undefined) === mustExist
    }
    case 'equals':
    case 'atMost':
    case 'below':
    case 'above': {
      const [attribute, compare] = [attributeName(condition.field), COMPARISONS[condition.test]]
      const { value } = storedItem({ value: condition.value })
      if (value === undefined) throw new InvalidRequest('a comparison without a value')
      if (ORDERED_TESTS.has(condition.test) && orderOf(value, value) === undefined)
        throw new InvalidRequest('unordered value')
      return (item) => compare(item[attribute], value)
    }
  }
}

function resultOf(step: Step): (oldItem: MaybeItem) => MaybeItem {
  switch (step.kind) {
    case 'put': {
      const item = storedItem({ ...step.item, ...step.key })
      const fault = checkItem(item)
      return () => acceptItem(item, fault)
    }
    case 'update': {
      const change = readChanges(step.changes)
      return (oldItem = { ...step.key }) => {
        const item = change(oldItem)
        return acceptItem(item, checkItem(item))
      }
    }
    case 'delete':
      return () => undefined
    case 'check':
      return (oldItem) => oldItem
  }
}

function acceptItem(item: StoredItem, fault: Error | undefined) {
  if (fault) throw fault
  return item
}

/**
 * Every change reads the item as it was before. Throws for an update that is invalid for every
 * item: no change, two changes of one attribute, a change of the key, an operand of a wrong type.
 */
function readChanges(changes: Changes): (item: StoredItem) => StoredItem {
  const attributeChanges = [
    ...changesOf(changes.set, (operand) => () => operand),
    ...changesOf(
      changes.setIfAbsent,
      (operand) => (oldValue) => (oldValue === undefined ? operand : oldValue),
    ),
    ...changesOf(changes.add, additionOf),
    ...(changes.remove ?? []).map((field) => [attributeName(field), () => undefined] as const),
  ]
  const attributes = new Set(attributeChanges.map(([attribute]) => attribute))
  if (attributeChanges.length === 0) throw new InvalidRequest('an update without a change')
  if (attributes.size < attributeChanges.length)
    throw new InvalidRequest('two changes of one attribute')
  if (attributes.has('pk') || attributes.has('sk')) throw new InvalidRequest('a change of the key')
  return (item) => {
    const newItem = { ...item }
    for (const [attribute, change] of attributeChanges) {
      const newValue = change(item[attribute])
      if (newValue === undefined) delete newItem[attribute]
      else newItem[attribute] = newValue
    }
    return newItem
  }
}

type Change = (oldValue: unknown) => unknown

function changesOf(fields: object | undefined, change: (operand: unknown) => Change) {
  return Object.entries(storedItem(fields ?? {})).map(
    ([field, operand]) => [attributeName(field), change(operand)] as const,
  )
}

const WRONG_TYPE = 'an operand of a wrong type'

function additionOf(operand: unknown): Change {
  if (operand instanceof Set) {
    return (oldValue) =>
      oldValue === undefined
        ? operand
        : new Set([...membersOfSameType(operand, oldValue), ...operand])
  }
  if (typeof operand !== 'number') throw new InvalidRequest(WRONG_TYPE)
  return (oldValue = 0) => {
    if (typeof oldValue !== 'number') throw new InvalidRequest(WRONG_TYPE)
    // DynamoDB adds decimals of 38 digits. The gateway uses only safe integers.
    if (![oldValue, operand, oldValue + operand].every(Number.isSafeInteger))
      throw new OutsideModel('a sum of unsafe integers')
    return oldValue + operand
  }
}

function membersOfSameType(operand: ReadonlySet<unknown>, oldValue: unknown): readonly unknown[] {
  if (!(oldValue instanceof Set) || memberType([...oldValue]) !== memberType([...operand]))
    throw new InvalidRequest(WRONG_TYPE)
  return [...oldValue]
}

function memberType([first]: readonly unknown[]) {
  return typeof first
}
