import * as v from 'valibot'
import { providerSecretName, readSecret, type Secrets } from '../secrets.ts'

// Printable ASCII without spaces, because a header allows nothing else.
export const ProviderKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))
const ProviderSecret = v.pipe(v.string(), v.parseJson(), v.object({ secret_key: ProviderKey }))

export const readProviderKey = async (secrets: Pick<Secrets, 'get'>, stage: string, fresh?: 'fresh'): Promise<string> =>
  (await readSecret(secrets, 'provider', providerSecretName(stage), ProviderSecret, fresh)).secret_key
