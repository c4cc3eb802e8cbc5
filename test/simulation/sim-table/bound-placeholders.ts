import { copyIn, typeOf, type Value } from './attribute-value.ts'
import { validationError } from './table-errors.ts'

/** The placeholders of one request: what its expressions may use. */
export type Bound = {
  readonly names: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, Value>>
}

/** What a compiled expression says about the placeholders it uses. */
export type Uses = {
  readonly names: readonly string[]
  readonly values: readonly string[]
  /** Values that are compared by order, and so must have one. */
  readonly ordered: readonly string[]
}

type Maps = {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined
  readonly ExpressionAttributeValues?: Record<string, unknown> | undefined
}

const NONE = {}

/** Copies the values in, and refuses what DynamoDB refuses: a placeholder without meaning, or a meaning without use. */
export const bind = (maps: Maps, uses: readonly Uses[]): Bound => {
  const names = maps.ExpressionAttributeNames ?? NONE
  const values: Record<string, Value> = {}
  for (const [placeholder, value] of Object.entries(maps.ExpressionAttributeValues ?? NONE)) {
    if (value !== undefined) values[placeholder] = copyIn(value)
  }
  if (isEmpty(maps.ExpressionAttributeNames)) throw validationError('ExpressionAttributeNames must not be empty')
  if (isEmpty(maps.ExpressionAttributeValues)) throw validationError('ExpressionAttributeValues must not be empty')
  requireUsed(
    names,
    uses.map((use) => use.names),
  )
  requireUsed(
    values,
    uses.map((use) => use.values),
  )
  for (const { ordered } of uses) for (const placeholder of ordered) requireOrder(values[placeholder])
  return { names, values }
}

const isEmpty = (map: object | undefined) => map !== undefined && Object.keys(map).length === 0

const requireUsed = (given: Readonly<Record<string, unknown>>, used: readonly (readonly string[])[]) => {
  for (const placeholders of used) {
    for (const placeholder of placeholders) {
      if (!(placeholder in given)) {
        throw validationError(`An expression attribute used in expression is not defined: ${placeholder}`)
      }
    }
  }
  for (const placeholder in given) {
    if (!used.some((placeholders) => placeholders.includes(placeholder))) {
      throw validationError(`An expression attribute is unused in expressions: ${placeholder}`)
    }
  }
}

const requireOrder = (value: Value | undefined) => {
  if (typeof value === 'string' || typeof value === 'number') return
  const type = value === undefined ? 'none' : typeOf(value)
  throw validationError(`Incorrect operand type for operator or function; operand type: ${type}`)
}

/** The name behind a placeholder that bind() has seen. */
export const nameIn = ({ names }: Bound, placeholder: string): string => names[placeholder] ?? placeholder

export const valueIn = ({ values }: Bound, placeholder: string): Value => values[placeholder] ?? null
