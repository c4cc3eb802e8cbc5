import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import { assertInvariant, notFound } from '../errors.ts'
import { parseId, requireRow } from '../field-errors.ts'
import { type ClientId, ClientIdSchema, sha256Hex } from '../ids.ts'
import { ifValid, readRows } from '../if-valid.ts'
import { type AlertDeps, alertChange } from '../operator/alert-change.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Page } from '../page.ts'
import { toItem } from '../table/attributes.ts'
import { apiKeyKey, clientKey, keyUseKey } from '../table/keys.ts'
import { listItems } from '../table/list-items.ts'
import { absent, all, any, below, equals, isNew, put, update } from '../table/step.ts'
import { addMs, DAY_MS, SECOND_MS, TimestampSchema } from '../time.ts'

/** The SHA-256 of a key's text. Key rows are found by it without an index, so no key is missed. */
const KeyIdSchema = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, 'must be a key_id'),
  v.brand('KeyId'),
)
export type KeyId = v.InferOutput<typeof KeyIdSchema>

/** `read_only` keys get 403 for every request that is no GET. */
export const KEY_PERMISSIONS = ['full', 'read_only'] as const

/** The key itself is shown once and never stored. */
export const ApiKeySchema = v.object({
  keyId: KeyIdSchema,
  clientId: ClientIdSchema,
  /** The key's beginning, by which people name the key. */
  prefix: v.string(),
  permissions: v.picklist(KEY_PERMISSIONS),
  createdAt: TimestampSchema,
  expiresAt: v.optional(TimestampSchema),
  revokedAt: v.optional(TimestampSchema),
})
export type ApiKey = v.InferOutput<typeof ApiKeySchema>

/** 43 characters of base64url. */
export const KEY_RANDOM_BYTES = 32

const ENTITY = 'api_key'

declare module '../memory.ts' {
  interface Memory {
    /** The last day for which this environment noted, or tried to note, each key's use. */
    keyUses?: Map<KeyId, string>
  }
}

const KeyUse = v.optional(v.object({ lastUsedOn: v.string() }))

const RevocationSchema = v.object({ revokedAt: TimestampSchema })

/** An unreadable row shows two ids and its revocation; its `expires_at: null` says nothing. */
type ShownKey = Partial<ApiKey> & Pick<ApiKey, 'keyId' | 'clientId'>

export function toApiKeyDto(key: ShownKey) {
  return { ...toItem(key), expires_at: key.expiresAt ?? null, revoked_at: key.revokedAt ?? null }
}

/** Names its stage and its client, so a key of another stage is refused without a read. */
export function apiKeyText(stage: string, clientId: ClientId, random: Buffer): string {
  return `gk_${stage}_${clientId}_${random.toString('base64url')}`
}

export function keyIdOf(text: string): KeyId {
  return v.parse(KeyIdSchema, sha256Hex(text))
}

/**
 * RFC 6750: the scheme in any case, one credential. Two headers arrive joined by a comma and are
 * refused. The pattern has no groups, because the front's firewall uses it too.
 */
export function bearerPattern(stage: string): string {
  return `^[Bb][Ee][Aa][Rr][Ee][Rr] +gk_${stage}_[0-9a-f-]{36}_[A-Za-z0-9_-]{43}$`
}

export async function listApiKeys(deps: TableDeps, clientId: ClientId, page: Page) {
  const items = await listItems(deps, {
    kind: 'APIKEY',
    index: 'by-owner',
    partition: [clientId, ENTITY],
    page,
  })
  return readRows(ApiKeySchema, items)
}

/**
 * Several keys may be valid at once. Only this answer has the key's text: if it is lost, revoke the
 * key.
 */
export async function issueApiKey(
  deps: RecordDeps & AlertDeps & Pick<Deps, 'stage' | 'randomBytes'>,
  input: {
    readonly clientId: ClientId
    readonly operator: string
    readonly permissions?: ApiKey['permissions'] | undefined
    /** Null: never expires. Undefined: the stage's default. */
    readonly expiresInSeconds?: number | null | undefined
  },
): Promise<{ readonly text: string; readonly key: ApiKey }> {
  const { clientId, operator, permissions = 'full' } = input
  const { keyLifetimeDays = null } = deps.stage
  const { expiresInSeconds = keyLifetimeDays && (keyLifetimeDays * DAY_MS) / SECOND_MS } = input
  const text = apiKeyText(deps.stage.name, clientId, deps.randomBytes(KEY_RANDOM_BYTES))
  const createdAt = deps.now()
  const key: ApiKey = {
    keyId: keyIdOf(text),
    clientId,
    // The prefix has four characters of the random part.
    prefix: text.slice(0, -39),
    permissions,
    createdAt,
    expiresAt:
      expiresInSeconds === null ? undefined : addMs(createdAt, expiresInSeconds * SECOND_MS),
  }
  if (!(await deps.table.get(clientKey(clientId)))) throw notFound('client')
  await alertChange(deps, {
    kind: 'client.access_changed',
    clientId,
    does: `issues the API key ${key.prefix}… (${permissions})`,
    typed: 'nothing',
    operator,
  })
  const record = {
    subject: clientId,
    clientId,
    operator,
    action: 'issue-api-key',
    after: toApiKeyDto(key),
  }
  const steps = { key: put(apiKeyKey(key.keyId), apiKeyRow(key), isNew) }
  const { applied } = await recordChange(deps, record, steps)
  assertInvariant(applied, 'a new key has the hash of another one')
  return { text, key }
}

export function apiKeyRow(key: ApiKey) {
  const { keyId, clientId, createdAt } = key
  return { ...key, owner: clientId, entity: ENTITY, listedAt: createdAt, id: keyId }
}

/**
 * Revokes a key; it is refused everywhere within 15 s (the authentication cache). Safe to repeat.
 * A key whose row cannot be read is revoked too, and a recount keeps that revocation. Throws 404
 * for an absent or another client's key, and 409 if the row's own revocation cannot be read.
 */
export async function revokeApiKey(
  deps: RecordDeps,
  { clientId, keyId: id, operator }: { clientId: ClientId; keyId: string; operator: string },
): Promise<ShownKey> {
  const keyId = parseId(KeyIdSchema, id, 'api key')
  const item = await deps.table.get(apiKeyKey(keyId))
  if (item?.['clientId'] !== clientId) throw notFound('api key')
  const before = ifValid(ApiKeySchema, item)
  // The other fields of an unreadable row are in the record of the key's issue.
  const shown: ShownKey = { ...before, keyId, clientId }
  const revocation = ifValid(RevocationSchema, item)
  if (revocation) return { ...shown, ...revocation }
  const after = { ...shown, revokedAt: deps.now() }
  const dtos = { before: before && toApiKeyDto(before), after: toApiKeyDto(after) }
  const record = { subject: clientId, clientId, operator, action: 'revoke-api-key', ...dtos }
  const isValid = all(equals('clientId', clientId), absent('revokedAt'))
  const key = update(apiKeyKey(keyId), { set: { revokedAt: after.revokedAt } }, isValid)
  const outcome = await recordChange(deps, record, { key })
  if (outcome.applied) return after
  // Another operator revoked the key. A revocation that cannot be read is a 409.
  return { ...shown, ...requireRow(RevocationSchema, outcome.item, 'api key', keyId, clientId) }
}

/** In a separate row. No request waits for this write, and it may be lost. */
export function noteKeyUse(
  deps: StoreDeps & Pick<Deps, 'runInBackground' | 'memory'>,
  clientId: ClientId,
  keyId: KeyId,
): void {
  if (!deps.runInBackground) return
  const today = deps.now().slice(0, 'YYYY-MM-DD'.length)
  const dayOfKey = (deps.memory.keyUses ??= new Map())
  if ((dayOfKey.get(keyId) ?? '') >= today) return
  if (dayOfKey.size >= 1_000) dayOfKey.clear()
  dayOfKey.set(keyId, today)
  const isLater = any(absent('lastUsedOn'), below('lastUsedOn', today))
  deps.runInBackground(() =>
    deps.table.write(update(keyUseKey(clientId, keyId), { set: { lastUsedOn: today } }, isLater)),
  )
}

/** The last use is null when there was none, or its note was lost. */
export async function shownKeys(deps: TableDeps, keys: readonly ShownKey[]) {
  const uses = await deps.table.getMany(
    keys.map(({ clientId, keyId }) => keyUseKey(clientId, keyId)),
  )
  return keys.map((key, at) => ({
    ...toApiKeyDto(key),
    last_used_on: ifValid(KeyUse, uses[at])?.lastUsedOn ?? null,
  }))
}
