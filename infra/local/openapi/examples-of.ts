import type { Recorded } from './example-walk.ts'
import type { Json } from './json-schema-of.ts'

/** The header of every answer of a function. */
export const REQUEST_ID_HEADER: Json = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

/** Recorded bodies as an answer's examples, by name. Throws if two have the same name. */
export const examplesOf = (recorded: readonly Recorded[]): Json => {
  const names = recorded.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new Error(`two examples have the same name: ${names.join(', ')}`)
  return Object.fromEntries(recorded.map(({ name, summary, body }) => [name, { summary, value: body }]))
}
