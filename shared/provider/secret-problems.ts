import * as v from 'valibot'
import { CallbackTokens } from './callback-secret.ts'
import { ProviderKey } from './provider-secret.ts'

const Fields = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()))

/** The problems of a stored text, by field and never by value, for the operator who sets it; empty if it is valid. */
const problemsOf =
  (field: string, schema: v.GenericSchema, rule: string) =>
  (text: string): readonly string[] => {
    const fields = v.safeParse(Fields, text)
    if (!fields.success) return [`it is not JSON with the field ${field}`]
    return v.is(schema, fields.output[field]) ? [] : [`${field} must be ${rule}`]
  }

export const providerSecretProblems = problemsOf(
  'secret_key',
  ProviderKey,
  '1 to 1,024 printable ASCII characters without spaces',
)

export const callbackSecretProblems = problemsOf(
  'callback_tokens',
  CallbackTokens,
  'a list of one or two texts of 16 to 1,024 printable ASCII characters without spaces',
)
