import type { Json } from './json-schema-of.ts'
import type { Parameters } from './query-parameters.ts'

/** A successful answer: its description, and the schema of its body. */
type Success = {
  readonly description: string
  readonly schema: string
  /** The answer is also available as CSV. */
  readonly csv?: true
  readonly headers?: Readonly<Record<string, Json>>
  /** Operations that can follow this answer, with the source of their parameters. */
  readonly links?: Readonly<Record<string, { readonly operationId: string; readonly parameters: Json }>>
}

/** The description of one operation. */
export type Operation = {
  readonly operationId: string
  readonly tag: 'Payments' | 'Balance' | 'Events' | 'Settlements' | 'Deliveries'
  readonly summary: string
  readonly description: string
  /** Parameters that differ from the common ones of the same name. */
  readonly parameters?: Parameters
  readonly body?: string
  readonly takesIdempotencyKey?: true
  readonly success: Readonly<Record<number, Success>>
  /** In addition to the errors of every operation. */
  readonly errors: readonly (404 | 422 | 502)[]
}
