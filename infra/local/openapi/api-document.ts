import { join } from 'node:path'
import { parseYaml, stringifyYaml } from '@redocly/openapi-core'
import * as v from 'valibot'
import { describeApi } from './describe-api.ts'
import { recordExamples } from './record-examples.ts'

export const API_DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.yaml')

const HEAD = '# Written by `npm run openapi -- --write`; a test compares.\n'

export async function apiDocument(): Promise<string> {
  return (
    HEAD + stringifyYaml(await describeApi(await recordExamples()), { lineWidth: -1, noRefs: true })
  )
}

export const CLIENT_SCHEMAS = join(import.meta.dirname, '../../../docs/examples/gateway-schemas.ts')

const DescribedApi = v.object({
  components: v.object({
    schemas: v.record(
      v.string(),
      v.custom<Schema>((schema) => typeof schema === 'object'),
    ),
  }),
})

export function clientSchemas(document: string): string {
  return schemasAsTypescript(v.parse(DescribedApi, parseYaml(document)).components.schemas)
}

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly description?: string
}

/**
 * Throws for a schema that has no TypeScript type here, because an unspecific type would check
 * nothing.
 */
export function schemasAsTypescript(schemas: Readonly<Record<string, Schema>>): string {
  return `${[
    '/* Written by `npm run openapi -- --write` from the schemas of docs/openapi.yaml; a test compares. */',
    ...Object.entries(schemas).map(
      ([name, schema]) => `${commentOf(schema, '')}export type ${name} = ${typeOf(schema, '')}`,
    ),
  ].join('\n\n')}\n`
}

function commentOf({ description }: Schema, indent: string): string {
  return description === undefined
    ? ''
    : `/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n${indent}`
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref: ref, oneOf, anyOf, allOf } = schema
  if (ref !== undefined) return ref.slice(ref.lastIndexOf('/') + 1)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  const choices = oneOf ?? anyOf
  if (choices) return union(choices.map((choice) => typeOf(choice, indent)))
  if (allOf) return allOf.map((part) => typeOf(part, indent)).join(' & ')
  const names = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  if (names.length === 0) return 'unknown'
  return union(names.map((name) => typeNamed(name, schema, indent)))
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

const PLAIN_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function typeNamed(name: string, schema: Schema, indent: string): string {
  if (name === 'array') return `readonly (${typeOf(schema.items ?? {}, indent)})[]`
  if (name === 'object') return objectOf(schema, indent)
  const plain = PLAIN_TYPES[name]
  if (plain === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return plain
}

function objectOf(
  { properties, required = [], additionalProperties }: Schema,
  indent: string,
): string {
  if (!properties) {
    const values =
      typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
    return `Readonly<Record<string, ${values}>>`
  }
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${inner}${commentOf(field, inner)}readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(field, inner)}\n`,
  )
  return `{\n${fields.join('')}${indent}}`
}
