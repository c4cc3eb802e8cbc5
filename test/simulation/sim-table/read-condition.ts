import { attributeName } from '../../../shared/table/attributes.ts'
import type { Condition } from '../../../shared/table/condition.ts'
import { copyIn, isList, isSet, type StoredItem, typeOf, type Value } from './attribute-value.ts'
import { equalValues, orderOf } from './compare-values.ts'
import { validationError } from './table-errors.ts'

/** A condition with its values copied in: what it holds for, and the values for whoever measures or checks them. */
export type ReadCondition = {
  readonly holds: (item: StoredItem) => boolean
  readonly values: readonly Value[]
}

export const ALWAYS: ReadCondition = { holds: () => true, values: [] }

/** Refuses what DynamoDB refuses whatever is stored: nothing to compare with, an order where there is none. */
export const readCondition = (condition: Condition): ReadCondition => {
  switch (condition.test) {
    case 'all':
    case 'any':
      return joined(condition.test, condition.of.map(readCondition))
    case 'absent':
    case 'present': {
      const [attribute, wanted] = [attributeName(condition.field), condition.test === 'present']
      return { holds: (item) => Object.hasOwn(item, attribute) === wanted, values: [] }
    }
    case 'equals':
    case 'differs':
    case 'atMost':
    case 'below':
    case 'above':
    case 'contains': {
      const attribute = attributeName(condition.field)
      if (condition.value === undefined) throw validationError('A condition without a value to compare with')
      const value = copyIn(condition.value)
      if (ORDERED.has(condition.test)) requireOrder(value)
      const decide = COMPARISONS[condition.test]
      return { holds: (item) => decide(item[attribute], value), values: [value] }
    }
  }
}

const joined = (test: 'all' | 'any', parts: readonly ReadCondition[]): ReadCondition => {
  if (parts.length === 0) throw validationError('A condition of no conditions')
  const values = parts.flatMap((part) => part.values)
  return test === 'all'
    ? { holds: (item) => parts.every((part) => part.holds(item)), values }
    : { holds: (item) => parts.some((part) => part.holds(item)), values }
}

const ORDERED: ReadonlySet<string> = new Set(['atMost', 'below', 'above'])

const requireOrder = (value: Value) => {
  if (typeof value === 'string' || typeof value === 'number') return
  throw validationError(`Incorrect operand type for operator or function; operand type: ${typeOf(value)}`)
}

type Decide = (actual: Value | undefined, wanted: Value) => boolean

const ordered =
  (decide: (order: number) => boolean): Decide =>
  (actual, wanted) => {
    const order = orderOf(actual, wanted)
    return order !== undefined && decide(order)
  }

const contains: Decide = (whole, part) => {
  if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part)
  if (whole === undefined || whole === null || typeof whole !== 'object') return false
  if (isList(whole)) return whole.some((one) => equalValues(one, part))
  return isSet(whole) && new Set<Value>(whole).has(part)
}

/** A missing attribute equals nothing, differs from everything, and has no order. */
const COMPARISONS = {
  equals: equalValues,
  differs: (actual, wanted) => !equalValues(actual, wanted),
  below: ordered((order) => order < 0),
  atMost: ordered((order) => order <= 0),
  above: ordered((order) => order > 0),
  contains,
} as const satisfies Record<string, Decide>
