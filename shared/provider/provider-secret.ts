import * as v from 'valibot'
import { providerSecretName, type Secrets } from '../secrets.ts'
import { storedFields } from './stored-fields.ts'

// Printable ASCII without spaces: anything else could not travel in a header.
const ProviderKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))

/**
 * The API key, which we show the provider. Throws when the secret is missing, malformed or cannot be read; the error
 * says which and never what is in it.
 */
export const readProviderKey = async (
  secrets: Pick<Secrets, 'get'>,
  stage: string,
  fresh?: 'fresh',
): Promise<string> => {
  const text = await secrets.get(providerSecretName(stage), fresh)
  if (text === undefined) throw new Error('the provider secret is missing')
  const parsed = v.safeParse(ProviderKey, storedFields(text)?.['secret_key'])
  // Without its cause, which would quote the secret.
  if (!parsed.success) throw new Error('the provider secret is malformed')
  return parsed.output
}

/** What is wrong with the stored text, by field and never by value; empty when nothing is. For those who fill it in. */
export const providerSecretProblems = (text: string): readonly string[] => {
  const fields = storedFields(text)
  if (fields === undefined) return ['it is not JSON with the field secret_key']
  return v.is(ProviderKey, fields['secret_key'])
    ? []
    : ['secret_key must be 1 to 1,024 printable ASCII characters without spaces']
}
