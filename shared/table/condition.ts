import { attributeName } from './attributes.ts'

/** Collects the #names and :values of one expression. */
export type Placeholders = {
  name(field: string): string
  value(value: unknown): string
  /** The two maps in the SDK's form; empty maps are left out, since DynamoDB refuses them. */
  maps(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Record<string, unknown> }
}

export const placeholders = (): Placeholders => {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  return {
    name: (field) => {
      const attribute = attributeName(field)
      const placeholder = `#${attribute}`
      names[placeholder] = attribute
      return placeholder
    },
    value: (value) => {
      const placeholder = `:v${Object.keys(values).length}`
      values[placeholder] = value
      return placeholder
    },
    maps: () => ({
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  }
}

/** A condition as a value: stores name them, compose them, and the table decides them. */
export type Condition = (p: Placeholders) => string

export const equals =
  (field: string, value: unknown): Condition =>
  (p) =>
    `${p.name(field)} = ${p.value(value)}`

export const differs =
  (field: string, value: unknown): Condition =>
  (p) =>
    `${p.name(field)} <> ${p.value(value)}`

export const absent =
  (field: string): Condition =>
  (p) =>
    `attribute_not_exists(${p.name(field)})`

export const present =
  (field: string): Condition =>
  (p) =>
    `attribute_exists(${p.name(field)})`

export const atMost =
  (field: string, value: unknown): Condition =>
  (p) =>
    `${p.name(field)} <= ${p.value(value)}`

export const below =
  (field: string, value: unknown): Condition =>
  (p) =>
    `${p.name(field)} < ${p.value(value)}`

export const above =
  (field: string, value: unknown): Condition =>
  (p) =>
    `${p.name(field)} > ${p.value(value)}`

export const contains =
  (field: string, value: unknown): Condition =>
  (p) =>
    `contains(${p.name(field)}, ${p.value(value)})`

export const all =
  (...conditions: readonly Condition[]): Condition =>
  (p) =>
    conditions.map((condition) => `(${condition(p)})`).join(' AND ')

export const any =
  (...conditions: readonly Condition[]): Condition =>
  (p) =>
    conditions.map((condition) => `(${condition(p)})`).join(' OR ')

/** Nothing is stored under this key yet. */
export const isNew: Condition = absent('pk')

/** Something is stored under this key. */
export const exists: Condition = present('pk')
