import { attributeName } from '../../../shared/table/attributes.ts'
import type { Changes } from '../../../shared/table/step.ts'
import { copyIn, isSet, type StoredItem, typeOf, type Value } from './attribute-value.ts'
import { OutsideModel } from './outside-model.ts'
import { validationError } from './table-errors.ts'

type Result = (was: Value | undefined, operand: Value) => Value | undefined

/** One change to one attribute, worked out from the item as it was. REMOVE has no operand. */
type Action = { readonly attribute: string; readonly operand: Value | undefined; readonly result: Result }

export type ReadChanges = {
  readonly attributes: readonly string[]
  readonly operands: readonly Value[]
  /** The item after the update. Every change sees the item as it was before. */
  readonly applyTo: (item: StoredItem) => StoredItem
}

/** Refuses what no item could make right: nothing to do, two changes to one attribute, an operand of a wrong type. */
export const readChanges = (changes: Changes): ReadChanges => {
  const actions = [
    ...actionsOf(changes.set, (_, operand) => operand),
    ...actionsOf(changes.setIfAbsent, (was, operand) => (was === undefined ? operand : was)),
    ...actionsOf(changes.add, added, (operand) => typeof operand === 'number' || isSet(operand)),
    ...actionsOf(changes.deleteFromSet, withoutMembers, isSet),
    ...(changes.remove ?? []).map(
      (field): Action => ({ attribute: attributeName(field), operand: undefined, result: () => undefined }),
    ),
  ]
  const attributes = actions.map(({ attribute }) => attribute)
  if (actions.length === 0) throw validationError('Invalid UpdateExpression: The expression can not be empty;')
  if (new Set(attributes).size < attributes.length) {
    throw validationError('Invalid UpdateExpression: Two document paths overlap with each other')
  }
  return {
    attributes,
    operands: actions.flatMap(({ operand }) => (operand === undefined ? [] : [operand])),
    applyTo: (item) => {
      const next: Record<string, Value> = { ...item }
      for (const { attribute, operand = null, result } of actions) {
        const becomes = result(item[attribute], operand)
        if (becomes === undefined) delete next[attribute]
        else next[attribute] = becomes
      }
      return next
    },
  }
}

/** Of the fields that are defined. `takes`: what an operand must be, whatever the item holds. */
const actionsOf = (
  fields: Readonly<Record<string, unknown>> | undefined,
  result: Result,
  takes: (operand: Value) => boolean = () => true,
): readonly Action[] =>
  Object.entries(fields ?? {}).flatMap(([field, value]) => {
    if (value === undefined) return []
    const operand = copyIn(value)
    if (!takes(operand)) {
      throw validationError('Invalid UpdateExpression: Incorrect operand type for operator or function')
    }
    return [{ attribute: attributeName(field), operand, result }]
  })

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
