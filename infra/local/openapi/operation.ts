import type { Json } from './json-schema-of.ts'

/** A successful answer: its description, and the schema of its body. */
export type Success = {
  readonly description: string
  readonly schema: string
  /** The answer is also available as CSV. */
  readonly csv?: true
  readonly headers?: Readonly<Record<string, Json>>
  /** Operations that can follow this answer, with the source of their parameters. */
  readonly links?: Readonly<
    Record<string, { readonly operationId: string; readonly parameters: Json }>
  >
}

/** The purpose of a parameter; `schema` if the parsing schema cannot express its check. */
export type Parameters = Readonly<
  Record<string, { readonly description: string; readonly schema?: Json }>
>

export type Operation = {
  readonly operationId: string
  readonly tag: 'Payments' | 'Balance' | 'Events' | 'Settlements' | 'Deliveries'
  readonly summary: string
  readonly description: string
  /** Parameters that differ from the common parameters of the same name. */
  readonly parameters?: Parameters
  readonly body?: string
  readonly takesIdempotencyKey?: true
  readonly success: Readonly<Record<number, Success>>
  /** The statuses of further errors, beside the errors of every operation. */
  readonly errors: readonly (404 | 422 | 502)[]
}

export const ID_OF_ANSWER: Json = { id: '$response.body#/id' }

export function okAnswer(
  description: string,
  schema: string,
  options: Omit<Success, 'description' | 'schema'> = {},
): Operation['success'] {
  return { 200: { description, schema, ...options } }
}

export function linkToFirst(operationId: string): Success['links'] {
  return { first: { operationId, parameters: { id: '$response.body#/data/0/id' } } }
}
