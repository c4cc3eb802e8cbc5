import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

export type Json = Readonly<Record<string, unknown>>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A type or null is written as such, and not as a choice of two schemas. */
const orNull = (schema: Json): Json => {
  const choices = schema['anyOf']
  if (!Array.isArray(choices) || choices.length !== 2) return schema
  const [first, second]: unknown[] = choices
  if (!isJson(first) || !isJson(second) || second['type'] !== 'null') return schema
  const { anyOf: _, ...rest } = schema
  const values: unknown = first['enum']
  return { ...first, type: [first['type'], 'null'], ...(Array.isArray(values) && { enum: [...values, null] }), ...rest }
}

/** Left out: what says nothing. */
const IDLE: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: () => true,
  propertyNames: () => true,
  required: (names) => Array.isArray(names) && names.length === 0,
  additionalProperties: (schema) => isJson(schema) && Object.keys(schema).length === 0,
}

const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const said = Object.entries(value).filter(([keyword, content]) => IDLE[keyword]?.(content) !== true)
  return orNull(Object.fromEntries(said.map(([keyword, content]) => [keyword, tidy(content)])))
}

/**
 * A valibot schema as JSON Schema (2020-12, which OpenAPI 3.1 speaks). `input`: what may be sent, of which checks that
 * JSON Schema has no word for are left out, so that who describes a request adds them. `output`: what is answered; throws
 * for what cannot be said.
 */
export const jsonSchemaOf = (schema: v.GenericSchema, typeMode: 'input' | 'output'): Json => {
  const errorMode = typeMode === 'input' ? 'ignore' : 'throw'
  const json = tidy(toJsonSchema(schema, { typeMode, errorMode, target: 'draft-2020-12' }))
  if (!isJson(json)) throw new Error('a schema that is no object')
  return json
}
