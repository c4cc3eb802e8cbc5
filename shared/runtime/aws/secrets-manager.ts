import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import type { Secrets } from '../../secrets.ts'

/** A changed secret takes effect within this time (docs/operations.md, section 4). */
export const CACHE_MS = 30 * 60_000
/** The cache time after a mismatch: an attacker's guesses cost one read a minute. */
const FRESH_MS = 60_000
const CACHE_LIMIT = 1_000

type Cached = { readonly value: string; readonly readAt: number }

/** Reads Secrets Manager with a cache of half an hour. Absence is not cached, so a new secret is visible at once. */
export const secretsManager = (client: SecretsManagerClient, monotonicMs: () => number): Secrets => {
  const cache = new Map<string, Cached>()
  return {
    get: async (name, fresh) => {
      const cached = cache.get(name)
      if (cached && monotonicMs() - cached.readAt < (fresh ? FRESH_MS : CACHE_MS)) return cached.value
      try {
        const { SecretString: value } = await client.send(new GetSecretValueCommand({ SecretId: name }))
        if (value === undefined) return undefined
        if (cache.size >= CACHE_LIMIT) cache.clear()
        cache.set(name, { value, readAt: monotonicMs() })
        return value
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined
        throw error
      }
    },
  }
}
