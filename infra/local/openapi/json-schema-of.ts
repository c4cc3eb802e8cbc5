import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

export type Json = Readonly<Record<string, unknown>>

/**
 * JSON Schema 2020-12, as in OpenAPI 3.1. `input` leaves out checks that JSON Schema cannot
 * express: the description of the request must add them. `output` throws for such a check.
 */
export function jsonSchemaOf(schema: v.GenericSchema, typeMode: 'input' | 'output') {
  const errorMode = typeMode === 'input' ? 'ignore' : 'throw'
  const json = tidy(toJsonSchema(schema, { typeMode, errorMode, target: 'draft-2020-12' }))
  if (!isJson(json)) throw new Error('the schema is not an object')
  return json
}

/** These keywords restrict nothing. */
const REDUNDANT_KEYWORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: () => true,
  propertyNames: () => true,
  required: (names) => Array.isArray(names) && names.length === 0,
  additionalProperties: (schema) => isJson(schema) && Object.keys(schema).length === 0,
}

function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const entries = Object.entries(value).filter(
    ([keyword, content]) => REDUNDANT_KEYWORDS[keyword]?.(content) !== true,
  )
  return withNullType(
    Object.fromEntries(entries.map(([keyword, content]) => [keyword, tidy(content)])),
  )
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A list of types, instead of a choice of two schemas. */
function withNullType(schema: Json) {
  const choices = schema['anyOf']
  if (!Array.isArray(choices) || choices.length !== 2) return schema
  const [first, second]: unknown[] = choices
  if (!isJson(first) || !isJson(second) || second['type'] !== 'null') return schema
  const { anyOf: _, ...otherKeywords } = schema
  const values = first['enum']
  return {
    ...first,
    type: [first['type'], 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...otherKeywords,
  }
}
