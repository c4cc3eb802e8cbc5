import type { Recorded } from './example-walk.ts'
import type { Json } from './json-schema-of.ts'

/** Every answer of a function has it. */
export const REQUEST_ID_HEADER: Json = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

/** Recorded bodies as the examples of an answer, by name. Throws for two of one name. */
export const examplesOf = (recorded: readonly Recorded[]): Json => {
  const names = recorded.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new Error(`two examples of one name: ${names.join(', ')}`)
  return Object.fromEntries(recorded.map(({ name, summary, body }) => [name, { summary, value: body }]))
}
