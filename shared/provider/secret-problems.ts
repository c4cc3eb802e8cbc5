import * as v from 'valibot'
import { storedFields } from '../secrets.ts'
import { CALLBACK_TOKENS_RULE, CallbackTokensSchema } from './callback-secret.ts'
import { ProviderKey } from './provider-secret.ts'

/** The problems of the stored text, by field and never by value, for the operator who sets it; empty if it is valid. */
export const providerSecretProblems = (text: string): readonly string[] => {
  const fields = storedFields(text)
  if (fields === undefined) return ['it is not JSON with the field secret_key']
  return v.is(ProviderKey, fields['secret_key'])
    ? []
    : ['secret_key must be 1 to 1,024 printable ASCII characters without spaces']
}

/** The problems of the stored text, by field and never by value, for the operator who sets it; empty if it is valid. */
export const callbackSecretProblems = (text: string): readonly string[] => {
  const fields = storedFields(text)
  if (fields === undefined) return ['it is not JSON with the field callback_tokens']
  return v.is(CallbackTokensSchema, fields['callback_tokens']) ? [] : [CALLBACK_TOKENS_RULE]
}
