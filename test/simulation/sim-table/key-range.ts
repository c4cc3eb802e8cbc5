import type { QueryInput, Range } from '../../../shared/table/table.ts'
import { copyIn } from './attribute-value.ts'
import { compareScalars } from './compare-values.ts'
import { type Entries, firstBehind } from './sorted-entries.ts'
import { validationError } from './table-errors.ts'

type KeyValue = string | number

export type KeyRange = {
  readonly partition: readonly KeyValue[]
  /** A condition on the first sort attribute. */
  readonly sort:
    | { readonly operator: 'atMost' | 'between' | 'beginsWith'; readonly values: readonly KeyValue[] }
    | undefined
}

type Key = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
  readonly types: Readonly<Record<string, 'S' | 'N'>>
}

/** What is asked of a key; throws a validation error when it does not fit. */
export const keyRange = ({ partition, range }: Pick<QueryInput, 'partition' | 'range'>, key: Key): KeyRange => {
  const [first = ''] = key.sort
  const sort = range && sortRange(range, key.types[first])
  if (sort) checkRange(sort)
  return { partition: key.partition.map((attribute, at) => keyValue(partition[at], key.types[attribute])), sort }
}

const sortRange = (range: Range, type: 'S' | 'N' | undefined): NonNullable<KeyRange['sort']> => {
  if ('atMost' in range) return { operator: 'atMost', values: [keyValue(range.atMost, type)] }
  if ('beginsWith' in range) return { operator: 'beginsWith', values: [keyValue(range.beginsWith, type)] }
  return { operator: 'between', values: range.between.map((bound) => keyValue(bound, type)) }
}

const keyValue = (asked: unknown, type: 'S' | 'N' | undefined): KeyValue => {
  if (asked === undefined) throw validationError('A key condition without a value')
  const value = copyIn(asked)
  if (typeof value === 'string' ? type !== 'S' : type !== 'N') throw wrongType()
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongType()
  if (value === '') throw validationError('One or more parameter values are not valid: a key is never an empty string')
  return value
}

const wrongType = () =>
  validationError('One or more parameter values were invalid: Condition parameter type does not match schema type')

const checkRange = ({ operator, values }: NonNullable<KeyRange['sort']>) => {
  const [low, high] = values
  if (operator === 'between' && low !== undefined && high !== undefined && compareScalars(low, high) > 0) {
    throw validationError('The BETWEEN operator requires upper bound to be greater than or equal to lower bound')
  }
  if (operator === 'beginsWith' && typeof low !== 'string') throw wrongType()
}

/** Whether a sort attribute is in the range. */
export const isInRange = (range: KeyRange['sort'], value: KeyValue): boolean => {
  if (!range) return true
  const [low = '', high = low] = range.values
  switch (range.operator) {
    case 'atMost':
      return compareScalars(value, low) <= 0
    case 'between':
      return compareScalars(value, low) >= 0 && compareScalars(value, high) <= 0
    case 'beginsWith':
      return String(value).startsWith(String(low))
  }
}

/** The bound at which a range ends, when it is a value that the range itself takes. */
export const farBound = (range: KeyRange['sort'], forward: boolean): KeyValue | undefined => {
  if (range?.operator === 'between') return range.values[forward ? 1 : 0]
  return range?.operator === 'atMost' && forward ? range.values[0] : undefined
}

/** The entries that the range takes: from the first index, up to but without the second. */
export const boundsOf = (entries: Entries, range: KeyRange['sort']): readonly [number, number] => {
  if (!range) return [0, entries.length]
  const [low = '', high = low] = range.values
  const from = (value: KeyValue) => firstBehind(entries, ({ sort: [first = ''] }) => compareScalars(first, value) >= 0)
  const behind = (value: KeyValue) => firstBehind(entries, ({ sort: [first = ''] }) => compareScalars(first, value) > 0)
  switch (range.operator) {
    case 'atMost':
      return [0, behind(low)]
    case 'between':
      return [from(low), behind(high)]
    case 'beginsWith':
      return [
        from(low),
        firstBehind(entries, ({ sort: [first = ''] }) => compareScalars(first, low) > 0 && !isInRange(range, first)),
      ]
  }
}
