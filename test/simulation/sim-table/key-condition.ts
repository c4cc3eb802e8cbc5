import type { Value } from './attribute-value.ts'
import { type Bound, nameIn, type Uses, valueIn } from './bound-placeholders.ts'
import { compareScalars } from './compare-values.ts'
import { type Tokens, tokensOf } from './expression-tokens.ts'
import { OutsideModel } from './outside-model.ts'
import { type Entries, firstBehind } from './sorted-entries.ts'
import { validationError } from './table-errors.ts'

type Operator = '=' | '<=' | 'BETWEEN' | 'begins_with'
type Term = { readonly name: string; readonly operator: Operator; readonly values: readonly string[] }

export type CompiledKeyCondition = Uses & { readonly terms: readonly Term[] }

const cache = new Map<string, CompiledKeyCondition>()

/** A key condition, read once for all its uses: the ones that shared/table/read.ts makes. */
export const compileKeyCondition = (expression: string): CompiledKeyCondition => {
  const known = cache.get(expression)
  if (known) return known
  const tokens = tokensOf(expression)
  const terms = [readTerm(tokens)]
  while (tokens.take('AND')) terms.push(readTerm(tokens))
  tokens.end()
  const names = terms.map(({ name }) => name)
  const compiled = { terms, names, values: terms.flatMap(({ values }) => values), ordered: [] }
  cache.set(expression, compiled)
  return compiled
}

const readTerm = (tokens: Tokens): Term => {
  if (tokens.take('begins_with')) {
    tokens.expect('(')
    const name = tokens.name()
    tokens.expect(',')
    const value = tokens.value()
    tokens.expect(')')
    return { name, operator: 'begins_with', values: [value] }
  }
  const name = tokens.name()
  const operator = tokens.next().toUpperCase()
  if (operator === 'BETWEEN') {
    const low = tokens.value()
    tokens.expect('AND')
    return { name, operator, values: [low, tokens.value()] }
  }
  if (operator !== '=' && operator !== '<=') {
    throw new OutsideModel(`the operator ${operator} in a key condition is not modelled`)
  }
  return { name, operator, values: [tokens.value()] }
}

type KeyValue = string | number

export type KeyRange = {
  readonly partition: readonly KeyValue[]
  /** A condition on the first sort attribute. */
  readonly sort: { readonly operator: Operator; readonly values: readonly KeyValue[] } | undefined
}

type Key = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
  readonly types: Readonly<Record<string, 'S' | 'N'>>
}

/** What the condition asks of a key; throws a validation error when it does not fit. */
export const keyRange = ({ terms }: CompiledKeyCondition, key: Key, bound: Bound): KeyRange => {
  const asked = new Map(terms.map((term) => [nameIn(bound, term.name), term]))
  if (asked.size < terms.length) {
    throw validationError('Invalid KeyConditionExpression: one condition per key attribute')
  }
  const valuesOf = (attribute: string, { values }: Term) =>
    values.map((value) => keyValue(valueIn(bound, value), key.types[attribute]))
  const partition = key.partition.map((attribute) => {
    const term = asked.get(attribute)
    asked.delete(attribute)
    if (!term) throw validationError(`Query condition missed key schema element: ${attribute}`)
    const [value] = valuesOf(attribute, term)
    if (term.operator !== '=' || value === undefined) throw validationError('Query key condition not supported')
    return value
  })
  const [first = ''] = key.sort
  const range = asked.get(first)
  asked.delete(first)
  if (asked.size > 0) {
    const onLaterSort = range?.operator === '=' && [...asked.keys()].every((attribute) => key.sort.includes(attribute))
    if (onLaterSort) throw new OutsideModel('the model knows conditions on the first sort attribute only')
    throw validationError('Query key condition not supported')
  }
  const sort = range && { operator: range.operator, values: valuesOf(first, range) }
  if (sort) checkRange(sort)
  return { partition, sort }
}

const keyValue = (value: Value, type: 'S' | 'N' | undefined): KeyValue => {
  if (typeof value === 'string' ? type !== 'S' : type !== 'N') throw wrongType()
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongType()
  if (value === '') throw validationError('One or more parameter values are not valid: a key is never an empty string')
  return value
}

const wrongType = () =>
  validationError('One or more parameter values were invalid: Condition parameter type does not match schema type')

const checkRange = ({ operator, values }: NonNullable<KeyRange['sort']>) => {
  const [low, high] = values
  if (operator === 'BETWEEN' && low !== undefined && high !== undefined && compareScalars(low, high) > 0) {
    throw validationError('The BETWEEN operator requires upper bound to be greater than or equal to lower bound')
  }
  if (operator === 'begins_with' && typeof low !== 'string') throw wrongType()
}

/** Whether a sort attribute is in the range. */
export const isInRange = (range: KeyRange['sort'], value: KeyValue): boolean => {
  if (!range) return true
  const [low = '', high = low] = range.values
  switch (range.operator) {
    case '=':
      return value === low
    case '<=':
      return compareScalars(value, low) <= 0
    case 'BETWEEN':
      return compareScalars(value, low) >= 0 && compareScalars(value, high) <= 0
    case 'begins_with':
      return String(value).startsWith(String(low))
  }
}

/** The bound at which a range ends, when it is a value that the range itself takes. */
export const farBound = (range: KeyRange['sort'], forward: boolean): KeyValue | undefined => {
  if (range?.operator === 'BETWEEN') return range.values[forward ? 1 : 0]
  return range?.operator === '<=' && forward ? range.values[0] : undefined
}

/** The entries that the range takes: from the first index, up to but without the second. */
export const boundsOf = (entries: Entries, range: KeyRange['sort']): readonly [number, number] => {
  if (!range) return [0, entries.length]
  const [low = '', high = low] = range.values
  const from = (value: KeyValue) => firstBehind(entries, ({ sort: [first = ''] }) => compareScalars(first, value) >= 0)
  const behind = (value: KeyValue) => firstBehind(entries, ({ sort: [first = ''] }) => compareScalars(first, value) > 0)
  switch (range.operator) {
    case '=':
      return [from(low), behind(low)]
    case '<=':
      return [0, behind(low)]
    case 'BETWEEN':
      return [from(low), behind(high)]
    case 'begins_with':
      return [
        from(low),
        firstBehind(entries, ({ sort: [first = ''] }) => compareScalars(first, low) > 0 && !isInRange(range, first)),
      ]
  }
}
