import { isList, isSet, type StoredItem, type Value } from './attribute-value.ts'
import { type Bound, nameIn, type Uses, valueIn } from './bound-placeholders.ts'
import { equalValues, orderOf } from './compare-values.ts'
import { type Tokens, tokensOf } from './expression-tokens.ts'
import { OutsideModel } from './outside-model.ts'
import { validationError } from './table-errors.ts'

type Test = (item: StoredItem, bound: Bound) => boolean

export type CompiledCondition = Uses & { readonly holds: Test }

const cache = new Map<string, CompiledCondition>()

/** The condition of an expression, read once for all its uses: the conditions that shared/table/condition.ts makes. */
export const compileCondition = (expression: string): CompiledCondition => {
  const known = cache.get(expression)
  if (known) return known
  const tokens = tokensOf(expression)
  const uses: CollectedUses = { names: [], values: [], ordered: [] }
  const { test } = readOr(tokens, uses)
  tokens.end()
  const compiled = { ...uses, holds: test }
  cache.set(expression, compiled)
  return compiled
}

type CollectedUses = { readonly names: string[]; readonly values: string[]; readonly ordered: string[] }
/** `wrapped`: the whole of it stands in parentheses, so that a further pair would be refused as redundant. */
type Read = { readonly test: Test; readonly wrapped: boolean }

const readOr = (tokens: Tokens, uses: CollectedUses): Read => {
  const first = readAnd(tokens, uses)
  if (!tokens.take('OR')) return first
  const rest = readOr(tokens, uses)
  return { test: (item, bound) => first.test(item, bound) || rest.test(item, bound), wrapped: false }
}

const readAnd = (tokens: Tokens, uses: CollectedUses): Read => {
  const first = readTerm(tokens, uses)
  if (!tokens.take('AND')) return first
  const rest = readAnd(tokens, uses)
  return { test: (item, bound) => first.test(item, bound) && rest.test(item, bound), wrapped: false }
}

const readTerm = (tokens: Tokens, uses: CollectedUses): Read => {
  if (tokens.take('(')) {
    const inner = readOr(tokens, uses)
    tokens.expect(')')
    if (inner.wrapped) throw validationError('Invalid ConditionExpression: The expression has redundant parentheses')
    return { test: inner.test, wrapped: true }
  }
  const token = tokens.peek() ?? ''
  return { test: token.startsWith('#') ? readComparison(tokens, uses) : readFunction(tokens, uses), wrapped: false }
}

const readName = (tokens: Tokens, uses: CollectedUses): string => {
  const name = tokens.name()
  uses.names.push(name)
  return name
}

const readValue = (tokens: Tokens, uses: CollectedUses): string => {
  const value = tokens.value()
  uses.values.push(value)
  return value
}

const readFunction = (tokens: Tokens, uses: CollectedUses): Test => {
  const word = tokens.next()
  tokens.expect('(')
  const name = readName(tokens, uses)
  const operand = word === 'contains' ? (tokens.expect(','), readValue(tokens, uses)) : ''
  tokens.expect(')')
  switch (word) {
    case 'attribute_exists':
      return (item, bound) => Object.hasOwn(item, nameIn(bound, name))
    case 'attribute_not_exists':
      return (item, bound) => !Object.hasOwn(item, nameIn(bound, name))
    case 'contains':
      return (item, bound) => contains(item[nameIn(bound, name)], valueIn(bound, operand))
    default:
      throw new OutsideModel(`the function ${word} is not modelled`)
  }
}

const contains = (whole: Value | undefined, part: Value): boolean => {
  if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part)
  if (whole === undefined || whole === null || typeof whole !== 'object') return false
  if (isList(whole)) return whole.some((one) => equalValues(one, part))
  return isSet(whole) && new Set<Value>(whole).has(part)
}

type Decide = (actual: Value | undefined, wanted: Value) => boolean

const ordered =
  (decide: (order: number) => boolean): Decide =>
  (actual, wanted) => {
    const order = orderOf(actual, wanted)
    return order !== undefined && decide(order)
  }

/** A missing attribute equals nothing, differs from everything, and has no order. */
const COMPARISONS: Readonly<Record<string, Decide>> = {
  '=': (actual, wanted) => equalValues(actual, wanted),
  '<>': (actual, wanted) => !equalValues(actual, wanted),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
}

const readComparison = (tokens: Tokens, uses: CollectedUses): Test => {
  const name = readName(tokens, uses)
  const operator = tokens.next()
  const decide = COMPARISONS[operator]
  if (!decide) throw new OutsideModel(`the operator ${operator} is not modelled`)
  const value = readValue(tokens, uses)
  if (operator !== '=' && operator !== '<>') uses.ordered.push(value)
  return (item, bound) => decide(item[nameIn(bound, name)], valueIn(bound, value))
}
