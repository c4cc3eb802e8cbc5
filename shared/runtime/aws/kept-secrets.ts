import {
  DecryptCommand,
  EncryptCommand,
  IncorrectKeyException,
  InvalidCiphertextException,
  type KMSClient,
} from '@aws-sdk/client-kms'
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { assertInvariant } from '../../errors.ts'
import { type Sealer, type Secrets, sealContext } from '../../secrets.ts'

/** A changed secret takes effect within this time (docs/operations.md, section 4). */
export const CACHE_MS = 30 * 60_000
/** The cache time after a mismatch: an attacker's guesses cost one read a minute. */
const FRESH_CACHE_MS = 60_000

/**
 * Reads Secrets Manager with a cache of half an hour. A missing secret is not cached, so a new
 * secret is visible at once.
 */
export function secretsManager(client: SecretsManagerClient, nowMs: () => number): Secrets {
  const cache = new Map<string, { readonly value: string; readonly readAt: number }>()
  return {
    get: async (name, fresh) => {
      const cached = cache.get(name)
      const keptMs = fresh ? FRESH_CACHE_MS : CACHE_MS
      // By the wall clock, because a frozen environment's monotonic clock may stop. The wall clock
      // may be set back.
      if (cached && Math.abs(nowMs() - cached.readAt) < keptMs) return cached.value
      try {
        const { SecretString: value } = await client.send(
          new GetSecretValueCommand({ SecretId: name }),
        )
        if (value === undefined) return undefined
        cache.set(name, { value, readAt: nowMs() })
        return value
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined
        throw error
      }
    },
  }
}

export const UNSEALED_MS = 5 * 60_000
const CACHE_LIMIT = 1_000
/** KMS refuses an empty or a longer text as an invalid request. */
const MAX_SEALED_BYTES = 6_144
type Key = { readonly client: KMSClient; readonly arn: string | undefined; readonly stage: string }

/**
 * Seals with KMS under the stage's key. Unsealed secrets are cached for five minutes, failures are
 * not.
 */
export function kmsSealer({ client, arn, stage }: Key, nowMs: () => number): Sealer {
  const cache = new Map<
    string,
    { readonly secret: Promise<string | undefined>; readonly readAt: number }
  >()
  const KeyId = () => {
    assertInvariant(arn !== undefined, 'a function that seals or unseals needs the key ARN')
    return arn
  }

  const decrypt = async (sealed: string, context: Record<string, string>) => {
    const CiphertextBlob = Buffer.from(sealed, 'base64')
    const { length } = CiphertextBlob
    if (length < 1 || length > MAX_SEALED_BYTES) return undefined
    try {
      const command = new DecryptCommand({
        KeyId: KeyId(),
        CiphertextBlob,
        EncryptionContext: context,
      })
      const { Plaintext } = await client.send(command)
      return Plaintext && Buffer.from(Plaintext).toString('utf8')
    } catch (error) {
      if (error instanceof InvalidCiphertextException || error instanceof IncorrectKeyException)
        return undefined
      throw error
    }
  }

  return {
    seal: async (secret, owner) => {
      const Plaintext = Buffer.from(secret, 'utf8')
      const command = new EncryptCommand({
        KeyId: KeyId(),
        Plaintext,
        EncryptionContext: sealContext(stage, owner),
      })
      const { CiphertextBlob } = await client.send(command)
      assertInvariant(CiphertextBlob !== undefined, 'KMS returns the ciphertext')
      return Buffer.from(CiphertextBlob).toString('base64')
    },
    unseal: async (sealed, owner) => {
      const context = sealContext(stage, owner)
      const name = JSON.stringify([sealed, context])
      const cached = cache.get(name)
      if (cached && Math.abs(nowMs() - cached.readAt) < UNSEALED_MS) return cached.secret
      const secret = decrypt(sealed, context)
      if (cache.size >= CACHE_LIMIT) cache.clear()
      cache.set(name, { secret, readAt: nowMs() })
      const forget = () => void (cache.get(name)?.secret === secret && cache.delete(name))
      secret.then((value) => value ?? forget(), forget)
      return secret
    },
  }
}
