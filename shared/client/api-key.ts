import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { TimestampSchema } from '../time.ts'

const KEY_HASH = /^[0-9a-f]{64}$/

/** The id of a key: the SHA-256 of its text. Key items are found by it without an index, so none is missed. */
export const KeyIdSchema = v.pipe(v.string(), v.regex(KEY_HASH, 'must be a key_id'), v.brand('KeyId'))
export type KeyId = v.InferOutput<typeof KeyIdSchema>

/** `read_only` keys get 403 for every request that is no GET. */
export const KEY_PERMISSIONS = ['full', 'read_only'] as const
export type KeyPermissions = (typeof KEY_PERMISSIONS)[number]

/** A stored API key. The key itself is shown once, when it is issued, and never stored. */
export const ApiKeySchema = v.object({
  keyId: KeyIdSchema,
  clientId: ClientIdSchema,
  /** The key's beginning, which identifies it to people. */
  prefix: v.string(),
  permissions: v.picklist(KEY_PERMISSIONS),
  createdAt: TimestampSchema,
  expiresAt: v.optional(TimestampSchema),
  revokedAt: v.optional(TimestampSchema),
})
export type ApiKey = v.InferOutput<typeof ApiKeySchema>

/** Length of the random part in bytes: 43 characters of base64url. */
export const KEY_RANDOM_BYTES = 32
const SHOWN_CHARACTERS = 4

const keyStart = (stage: string, clientId: ClientId) => `gk_${stage}_${clientId}_`

/** A key's text. It names its stage and its client, so a key of another stage is refused without a read. */
export const apiKeyText = (stage: string, clientId: ClientId, random: Buffer): string =>
  keyStart(stage, clientId) + random.toString('base64url')

/** The part of a key's text that may be shown: its public part and four characters of the secret. */
export const shownPrefix = (stage: string, clientId: ClientId, text: string): string =>
  text.slice(0, keyStart(stage, clientId).length + SHOWN_CHARACTERS)

export const keyIdOf = (text: string): KeyId => v.parse(KeyIdSchema, createHash('sha256').update(text).digest('hex'))

const KEY_TEXT = /^gk_([a-z0-9-]{1,20})_([0-9a-f-]{36})_[A-Za-z0-9_-]{43}$/

/** A pattern of `Authorization` headers with a key of the stage, for a firewall without flags. */
export const bearerPattern = (stage: string): string =>
  `^[Bb][Ee][Aa][Rr][Ee][Rr] +gk_${stage}_[0-9a-f-]{36}_[A-Za-z0-9_-]{43}$`

/** The client that a key of this stage names. Undefined for any other text. */
export const claimedClient = (stage: string, text: string): ClientId | undefined => {
  const [, keyStage, clientId] = KEY_TEXT.exec(text) ?? []
  return keyStage === stage ? ifValid(ClientIdSchema, clientId) : undefined
}
