import * as v from 'valibot'
import { providerSecretName, type Secrets } from '../secrets.ts'
import { storedFields } from './stored-fields.ts'

// Printable ASCII without spaces, because a header allows nothing else.
const ProviderKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))

/**
 * Reads the API key that authenticates us to the provider. Throws if the secret is missing, malformed or unreadable;
 * the error never contains its value.
 */
export const readProviderKey = async (
  secrets: Pick<Secrets, 'get'>,
  stage: string,
  fresh?: 'fresh',
): Promise<string> => {
  const text = await secrets.get(providerSecretName(stage), fresh)
  if (text === undefined) throw new Error('the provider secret is missing')
  const parsed = v.safeParse(ProviderKey, storedFields(text)?.['secret_key'])
  // No cause, because it would quote the secret.
  if (!parsed.success) throw new Error('the provider secret is malformed')
  return parsed.output
}

/** The problems of the stored text, by field and never by value, for the operator who sets it; empty if it is valid. */
export const providerSecretProblems = (text: string): readonly string[] => {
  const fields = storedFields(text)
  if (fields === undefined) return ['it is not JSON with the field secret_key']
  return v.is(ProviderKey, fields['secret_key'])
    ? []
    : ['secret_key must be 1 to 1,024 printable ASCII characters without spaces']
}
