import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import type { Secrets } from '../../secrets.ts'

/** A change acts after this time at the latest (docs/operations.md, section 4). */
export const CACHE_MS = 5 * 60_000
const CACHE_LIMIT = 1_000

type Cached = { readonly value: string; readonly until: number }

/** Secrets Manager behind a cache of five minutes. Absence is never cached: a secret created just now is seen at once. */
export const secretsManager = (client: SecretsManagerClient, monotonicMs: () => number): Secrets => {
  const cache = new Map<string, Cached>()
  return {
    get: async (name) => {
      const cached = cache.get(name)
      if (cached && cached.until > monotonicMs()) return cached.value
      try {
        const { SecretString: value } = await client.send(new GetSecretValueCommand({ SecretId: name }))
        if (value === undefined) return undefined
        if (cache.size >= CACHE_LIMIT) cache.clear()
        cache.set(name, { value, until: monotonicMs() + CACHE_MS })
        return value
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined
        throw error
      }
    },
  }
}
