import { isSet, type StoredItem, typeOf, type Value } from './attribute-value.ts'
import { type Bound, nameIn, type Uses, valueIn } from './bound-placeholders.ts'
import { type Tokens, tokensOf } from './expression-tokens.ts'
import { OutsideModel } from './outside-model.ts'
import { validationError } from './table-errors.ts'

/** One change to one attribute, worked out from the item as it was. */
type Action = {
  readonly name: string
  /** The placeholder of its operand; REMOVE has none. */
  readonly value: string | undefined
  /** What the operand must be for the action, whatever the item holds. */
  readonly takes: (operand: Value) => boolean
  readonly result: (was: Value | undefined, operand: Value) => Value | undefined
}

export type CompiledUpdate = Uses & {
  readonly actions: readonly Action[]
}

const cache = new Map<string, CompiledUpdate>()

/** The changes of an expression, read once for all its uses: the updates that shared/table/step.ts makes. */
export const compileUpdate = (expression: string): CompiledUpdate => {
  const known = cache.get(expression)
  if (known) return known
  const tokens = tokensOf(expression)
  const actions: Action[] = []
  const seen = new Set<string>()
  while (tokens.peek() !== undefined) {
    const word = tokens.next().toUpperCase()
    if (seen.has(word)) throw validationError(`Invalid UpdateExpression: The "${word}" section can only be used once`)
    seen.add(word)
    do actions.push(readAction(word, tokens))
    while (tokens.take(','))
  }
  if (actions.length === 0) throw validationError('Invalid UpdateExpression: The expression can not be empty;')
  const compiled = {
    actions,
    names: actions.map(({ name }) => name),
    values: actions.flatMap(({ value }) => (value === undefined ? [] : [value])),
    ordered: [],
  }
  cache.set(expression, compiled)
  return compiled
}

const readAction = (word: string, tokens: Tokens): Action => {
  const name = tokens.name()
  switch (word) {
    case 'SET':
      tokens.expect('=')
      return readAssignment(name, tokens)
    case 'ADD':
      return {
        name,
        value: tokens.value(),
        takes: (operand) => typeof operand === 'number' || isSet(operand),
        result: added,
      }
    case 'DELETE':
      return { name, value: tokens.value(), takes: isSet, result: withoutMembers }
    case 'REMOVE':
      return { name, value: undefined, takes: () => true, result: () => undefined }
    default:
      throw validationError(`Invalid UpdateExpression: Syntax error; token: "${word}"`)
  }
}

const readAssignment = (name: string, tokens: Tokens): Action => {
  if (!tokens.take('if_not_exists')) {
    return { name, value: tokens.value(), takes: () => true, result: (_, operand) => operand }
  }
  tokens.expect('(')
  if (tokens.name() !== name) throw new OutsideModel('if_not_exists is modelled for the attribute it is assigned to')
  tokens.expect(',')
  const value = tokens.value()
  tokens.expect(')')
  return { name, value, takes: () => true, result: (was, operand) => (was === undefined ? operand : was) }
}

const WRONG_TYPE = 'An operand in the update expression has an incorrect data type'

const added = (was: Value | undefined, operand: Value): Value => {
  if (was === undefined) return operand
  if (typeof was === 'number' && typeof operand === 'number') return sum(was, operand)
  if (typeOf(was) !== typeOf(operand) || !isSet(was) || !isSet(operand)) throw validationError(WRONG_TYPE)
  return membersOf([...was, ...operand])
}

const sum = (a: number, b: number): number => {
  const total = a + b
  // DynamoDB adds decimals of 38 digits; the gateway's amounts and counts are safe integers.
  if (![a, b, total].every(Number.isSafeInteger)) throw new OutsideModel('only safe integers are added')
  return total
}

const withoutMembers = (was: Value | undefined, operand: Value): Value | undefined => {
  if (was === undefined) return undefined
  if (typeOf(was) !== typeOf(operand) || !isSet(was) || !isSet(operand)) throw validationError(WRONG_TYPE)
  const gone = new Set<string | number>(operand)
  const left = [...was].filter((member) => !gone.has(member))
  // A set without members does not exist.
  return left.length > 0 ? membersOf(left) : undefined
}

const membersOf = (members: readonly (string | number)[]): Value =>
  members.every((member) => typeof member === 'string')
    ? new Set(members)
    : new Set(members.filter((member) => typeof member === 'number'))

/** Refuses what no item could make right: two changes to one attribute, an operand of a wrong type. */
export const checkUpdate = ({ actions }: CompiledUpdate, bound: Bound): void => {
  const names = new Set<string>()
  for (const { name, value, takes } of actions) {
    const attribute = nameIn(bound, name)
    if (names.has(attribute)) {
      throw validationError('Invalid UpdateExpression: Two document paths overlap with each other')
    }
    names.add(attribute)
    if (value !== undefined && !takes(valueIn(bound, value))) {
      throw validationError('Invalid UpdateExpression: Incorrect operand type for operator or function')
    }
  }
}

/** The item after the update. Every action sees the item as it was before. */
export const applyUpdate = ({ actions }: CompiledUpdate, item: StoredItem, bound: Bound): StoredItem => {
  const next: Record<string, Value> = { ...item }
  for (const { name, value, result } of actions) {
    const attribute = nameIn(bound, name)
    const becomes = result(item[attribute], value === undefined ? null : valueIn(bound, value))
    if (becomes === undefined) delete next[attribute]
    else next[attribute] = becomes
  }
  return next
}
