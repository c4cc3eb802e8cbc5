import * as v from 'valibot'
import { type FieldErrors, invalid, notFound } from './errors.ts'
import { ifValid } from './if-valid.ts'

const MAX_FIELDS = 20
const MAX_FIELD_NAME = 100

/** Errors of a field whose name cannot be shown are filed under `body`. */
export const shownField = (field: string): string =>
  field.isWellFormed() && field.length <= MAX_FIELD_NAME ? field : 'body'

/** Valibot's issues as the envelope's `field_errors`; an issue of the whole input is under `body`. */
const fieldErrorsOf = (issues: readonly v.BaseIssue<unknown>[]): FieldErrors => {
  const errors: Record<string, string[]> = Object.create(null)
  for (const issue of issues) {
    const field = v.getDotPath(issue) ?? 'body'
    if (!(field in errors) && Object.keys(errors).length >= MAX_FIELDS) continue
    ;(errors[field] ??= []).push(describeIssue(issue))
  }
  return { ...errors }
}

/** Says what was expected and never quotes the value, which may be a secret or a phone number. */
export const describeIssue = (issue: v.BaseIssue<unknown>): string => {
  if (issue.kind === 'schema' && issue.expected === 'never') return 'unknown field'
  if (issue.kind === 'schema' && issue.input === undefined) return 'required'
  // valibot says of an integer only that it is not one.
  if (issue.type === 'safe_integer') return 'must be an integer'
  // Valibot's own messages quote the input; ours never do.
  if (!issue.message.startsWith('Invalid ')) return issue.message
  return issue.expected ? `must be ${issue.expected}` : 'not valid'
}

/** Parses an operator's or query input. Throws a 422 that names every invalid field. */
export const parseInput = <const Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  actionHint?: string,
): v.InferOutput<Schema> => {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const fieldErrors = fieldErrorsOf(result.issues)
  const [field, reasons] = Object.entries(fieldErrors)[0] ?? ['body', ['not valid']]
  const reason = reasons[0] ?? 'not valid'
  // A reason that names its field needs no prefix, because the spec's messages are whole sentences.
  throw invalid(reason.includes(field) ? reason : `${field}: ${reason}`, fieldErrors, actionHint)
}

/** Throws 404: a malformed id is one that does not exist (design section 5). */
export const parseId = <const Schema extends v.GenericSchema>(
  schema: Schema,
  id: string,
  what: Parameters<typeof notFound>[0],
): v.InferOutput<Schema> => {
  const parsed = ifValid(schema, id)
  if (parsed === undefined) throw notFound(what)
  return parsed
}
