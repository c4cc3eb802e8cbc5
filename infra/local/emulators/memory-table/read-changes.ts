import { attributeName } from '../../../../shared/table/attributes.ts'
import type { Changes } from '../../../../shared/table/step.ts'
import { InvalidRequest, OutsideModel } from './request-errors.ts'
import { type StoredItem, storedItem } from './stored-item.ts'

/** The new value of an attribute; undefined removes it. */
type Change = (was: unknown) => unknown

/**
 * The item after an update; every change reads the item as it was before. Throws for an update that is invalid for
 * every item: no change, two changes of one attribute, a change of the key, an operand of a wrong type.
 */
export const readChanges = (changes: Changes): ((item: StoredItem) => StoredItem) => {
  const all = [
    ...eachOf(changes.set, (operand) => () => operand),
    ...eachOf(changes.setIfAbsent, (operand) => (was) => (was === undefined ? operand : was)),
    ...eachOf(changes.add, added),
    ...eachOf(changes.deleteFromSet, without),
    ...(changes.remove ?? []).map((field) => [attributeName(field), () => undefined] as const),
  ]
  const attributes = new Set(all.map(([attribute]) => attribute))
  if (all.length === 0) throw new InvalidRequest('nothing to change')
  if (attributes.size < all.length) throw new InvalidRequest('two changes of one attribute')
  if (attributes.has('pk') || attributes.has('sk')) throw new InvalidRequest('a change of the key')
  return (item) => {
    const next = { ...item }
    for (const [attribute, change] of all) {
      const becomes = change(item[attribute])
      if (becomes === undefined) delete next[attribute]
      else next[attribute] = becomes
    }
    return next
  }
}

const eachOf = (fields: object | undefined, change: (operand: unknown) => Change) =>
  Object.entries(storedItem(fields ?? {})).map(([field, operand]) => [attributeName(field), change(operand)] as const)

const WRONG_TYPE = 'an operand of a wrong type'

const added = (operand: unknown): Change => {
  if (operand instanceof Set) {
    return (was) => (was === undefined ? operand : new Set([...membersLike(operand, was), ...operand]))
  }
  if (typeof operand !== 'number') throw new InvalidRequest(WRONG_TYPE)
  return (was = 0) => {
    if (typeof was !== 'number') throw new InvalidRequest(WRONG_TYPE)
    // DynamoDB adds decimals of 38 digits. The gateway uses only safe integers.
    if (![was, operand, was + operand].every(Number.isSafeInteger)) throw new OutsideModel('a sum of unsafe integers')
    return was + operand
  }
}

const without = (operand: unknown): Change => {
  if (!(operand instanceof Set)) throw new InvalidRequest(WRONG_TYPE)
  return (was) => {
    if (was === undefined) return undefined
    const left = membersLike(operand, was).filter((member) => !operand.has(member))
    // A set without members does not exist.
    return left.length > 0 ? new Set(left) : undefined
  }
}

const typeIn = ([first]: readonly unknown[]) => typeof first

/** The members of a set of the operand's type: texts or numbers. */
const membersLike = (operand: ReadonlySet<unknown>, was: unknown): readonly unknown[] => {
  if (!(was instanceof Set) || typeIn([...was]) !== typeIn([...operand])) throw new InvalidRequest(WRONG_TYPE)
  return [...was]
}
