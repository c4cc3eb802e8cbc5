import * as v from 'valibot'
import { providerSecretName, type Secrets, storedFields } from '../secrets.ts'

// Printable ASCII without spaces, because a header allows nothing else.
export const ProviderKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))

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
