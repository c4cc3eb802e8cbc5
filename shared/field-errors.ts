import * as v from 'valibot'
import { conflict, type FieldErrors, invalid, notFound } from './errors.ts'
import { ifValid } from './if-valid.ts'

/** Errors of a field whose name cannot be shown are filed under `body`. */
export function shownField(field: string): string {
  return field.isWellFormed() && field.length <= 100 ? field : 'body'
}

export type FieldError = { readonly field: string; readonly message: string }

/** The envelope's `field_errors`, for the first `mostFields` fields. */
export function errorsByField(
  errors: readonly FieldError[],
  mostFields = errors.length,
): FieldErrors {
  const fields = Map.groupBy(errors, ({ field }) => field)
    .entries()
    .take(mostFields)
  return Object.fromEntries(
    fields.map(([field, ofField]) => [field, ofField.map(({ message }) => message)]),
  )
}

/** An issue of the whole input is filed under `body`. */
export function errorOf(issue: v.BaseIssue<unknown>): FieldError {
  return { field: v.getDotPath(issue) ?? 'body', message: describeIssue(issue) }
}

/** Never quotes the given value, which may be a secret or a phone number. */
function describeIssue(issue: v.BaseIssue<unknown>) {
  if (issue.kind === 'schema' && issue.expected === 'never') return 'unknown field'
  if (issue.kind === 'schema' && issue.input === undefined) return 'required'
  // valibot's message only says that the number is invalid.
  if (issue.type === 'safe_integer') return 'must be an integer'
  // valibot's own messages quote the input; our messages never do.
  if (!issue.message.startsWith('Invalid ')) return issue.message
  return issue.expected ? `must be ${issue.expected}` : 'not valid'
}

/** Null counts as absent (design section 5). */
export function optionalField<const Schema extends v.GenericSchema>(schema: Schema) {
  return v.nullish(schema, () => undefined)
}

/** Throws a 422 that names the invalid fields, at most twenty. */
export function parseInput<const Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  actionHint?: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const { field, message } = errorOf(result.issues[0])
  // A message that names its field needs no prefix, because the spec's messages are whole
  // sentences.
  const text = message.includes(field) ? message : `${field}: ${message}`
  throw invalid(text, errorsByField(result.issues.map(errorOf), 20), actionHint)
}

/** Throws 404, because a malformed id does not exist (design section 5). */
export function parseId<const Schema extends v.GenericSchema>(
  schema: Schema,
  id: string,
  what: string,
): v.InferOutput<Schema> {
  const parsed = ifValid(schema, id)
  if (parsed === undefined) throw notFound(what)
  return parsed
}

/**
 * For an operator. Throws 404 without a row; 409 with the next command for an unreadable row.
 * `clientId`: null for a row of no client.
 */
export function requireRow<const Schema extends v.GenericSchema>(
  schema: Schema,
  item: unknown,
  what: string,
  id: string,
  clientId: unknown = '…',
): v.InferOutput<Schema> {
  if (item === undefined) throw notFound(what)
  const row = ifValid(schema, item)
  if (row !== undefined) return row
  const ofClient = typeof clientId === 'string' ? ` --client_id ${clientId}` : ''
  throw conflict(`the row of ${what} ${id} cannot be read`, `Run recount-ledger${ofClient}.`)
}
