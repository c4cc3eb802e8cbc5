import type { Json } from './json-schema-of.ts'
import type { Parameters } from './query-parameters.ts'

/** An answer of success: what it says, and the schema of its body. */
type Success = {
  readonly description: string
  readonly schema: string
  /** Asked for as CSV it is that. */
  readonly csv?: true
  readonly headers?: Readonly<Record<string, Json>>
  /** Operations that take this answer further, each with where its parameters come from. */
  readonly links?: Readonly<Record<string, { readonly operationId: string; readonly parameters: Json }>>
}

/** What the API's description says of one operation. */
export type Operation = {
  readonly operationId: string
  readonly tag: 'Payments' | 'Balance' | 'Events' | 'Settlements' | 'Deliveries'
  readonly summary: string
  readonly description: string
  /** Parameters that are otherwise than elsewhere. */
  readonly parameters?: Parameters
  readonly body?: string
  readonly takesIdempotencyKey?: true
  readonly success: Readonly<Record<number, Success>>
  /** Beside those that every operation may give. */
  readonly errors: readonly (404 | 422 | 502)[]
}
