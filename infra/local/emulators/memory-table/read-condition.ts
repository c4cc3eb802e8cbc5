import { isDeepStrictEqual } from 'node:util'
import { attributeName } from '../../../../shared/table/attributes.ts'
import type { Condition } from '../../../../shared/table/step.ts'
import { orderOf } from './order-of.ts'
import { InvalidRequest } from './request-errors.ts'
import { type StoredItem, storedItem } from './stored-item.ts'

type Test = (item: StoredItem) => boolean

/** A condition as a function. Throws if it is invalid for every item: no value to compare with, or no order. */
export const readCondition = (condition: Condition): Test => {
  switch (condition.test) {
    case 'all':
    case 'any': {
      const tests = condition.of.map(readCondition)
      if (tests.length === 0) throw new InvalidRequest('a condition of no conditions')
      if (condition.test === 'all') return (item) => tests.every((test) => test(item))
      return (item) => tests.some((test) => test(item))
    }
    case 'absent':
    case 'present': {
      const [attribute, wanted] = [attributeName(condition.field), condition.test === 'present']
      return (item) => (item[attribute] !== undefined) === wanted
    }
    case 'equals':
    case 'atMost':
    case 'below':
    case 'above':
    case 'contains': {
      const [attribute, holds] = [attributeName(condition.field), COMPARISONS[condition.test]]
      const { value } = storedItem({ value: condition.value })
      if (value === undefined) throw new InvalidRequest('nothing to compare with')
      if (ORDERED.has(condition.test) && orderOf(value, value) === undefined) throw new InvalidRequest('no order')
      return (item) => holds(item[attribute], value)
    }
  }
}

const ORDERED: ReadonlySet<string> = new Set(['atMost', 'below', 'above'])

const contains = (whole: unknown, part: unknown): boolean => {
  if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part)
  if (Array.isArray(whole)) return whole.some((element) => isDeepStrictEqual(element, part))
  return whole instanceof Set && whole.has(part)
}

/** A missing attribute equals nothing and has no order. */
const COMPARISONS = {
  equals: isDeepStrictEqual,
  below: (actual, wanted) => (orderOf(actual, wanted) ?? 0) < 0,
  atMost: (actual, wanted) => (orderOf(actual, wanted) ?? 1) <= 0,
  above: (actual, wanted) => (orderOf(actual, wanted) ?? 0) > 0,
  contains,
} as const satisfies Record<string, (actual: unknown, wanted: unknown) => boolean>
