import type { Json } from './json-schema-of.ts'

export type Success = {
  readonly description: string
  readonly schema: string
  readonly csv?: true
  readonly headers?: Readonly<Record<string, Json>>
  /** Operations that can follow with the id of the answer, `first` with that of its first item. */
  readonly links?: Readonly<Record<string, string>>
}

/** `schema`: if the parsing schema cannot express its check. */
export type Parameters = Readonly<
  Record<string, { readonly description: string; readonly schema?: Json }>
>

export type Operation = {
  readonly tag: 'Payments' | 'Balance' | 'Events' | 'Settlements' | 'Deliveries'
  readonly summary: string
  readonly description: string
  readonly parameters?: Parameters
  readonly body?: string
  readonly takesIdempotencyKey?: true
  readonly success: Readonly<Record<number, Success>>
  /** Beside the errors of every operation. */
  readonly errors: readonly (404 | 422 | 502)[]
}

export function okAnswer(
  description: string,
  schema: string,
  links?: Success['links'],
): Operation['success'] {
  return { 200: { description, schema, ...(links && { links }) } }
}
