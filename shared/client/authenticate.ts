import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { type Cached, isFresh, keepNewest } from '../memory.ts'
import { apiKeyKey, clientKey } from '../table/keys.ts'
import { addMs, END_OF_TIME, SECOND_MS } from '../time.ts'
import { type ApiKey, ApiKeySchema, claimedClient, type KeyId, keyIdOf, noteKeyUse } from './api-key-store.ts'
import { type Client, ClientSchema } from './client.ts'
import { type Asked, enforceRateLimit } from './enforce-rate-limit.ts'

type AuthDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'inBackground' | 'memory'>

type Request = Asked & {
  /** The request asks for a change, which a read-only key must not. */
  readonly changes?: boolean
  /** Called with the client and the key before a request can be refused for its content. */
  readonly onAuthenticated?: (caller: { readonly client_id: ClientId; readonly key_id: KeyId }) => void
}

/** A revocation, a disabled client and a changed limit take effect within this time. */
const CACHE_MS = 15 * SECOND_MS
const CACHE_LIMIT = 1_000

type Proven = { readonly client: Client } & Pick<ApiKey, 'expiresAt' | 'permissions'>
/** No refusal is cached: a new key, or a client that was just enabled, works at once. */
type CachedKey = Proven & Cached

declare module '../memory.ts' {
  interface Memory {
    apiKeys?: Map<KeyId, CachedKey>
  }
}

/**
 * The client of an `Authorization` header (spec section 5), within its rate limit. Throws 403 `forbidden` for a change
 * with a read-only key, 429 `rate_limit`, and the same 401 `auth` for a key that is missing, malformed, unknown, expired,
 * revoked, of another stage or of a disabled client. The key's text is never logged and never part of an error.
 */
export const authenticate = async (
  deps: AuthDeps,
  authorizationHeader: string | undefined,
  { changes = false, onAuthenticated, ...asked }: Request = { points: 1 },
): Promise<Client> => {
  const [, key = ''] = BEARER.exec(authorizationHeader ?? '') ?? []
  const clientId = claimedClient(deps.stage.name, key)
  if (clientId === undefined) throw invalidCredentials()
  const keyId = keyIdOf(key)
  const proven = await prove(deps, keyId, clientId)
  if (!proven || (proven.expiresAt ?? END_OF_TIME) <= deps.now()) throw invalidCredentials()
  onAuthenticated?.({ client_id: clientId, key_id: keyId })
  noteKeyUse(deps, clientId, keyId)
  if (changes && proven.permissions === 'read_only') {
    throw new GatewayError('forbidden', 'this API key may only read')
  }
  await enforceRateLimit(deps, proven.client, asked)
  return proven.client
}

/** The 401 of spec section 5, with the same words for every cause. */
export const invalidCredentials = () => new GatewayError('auth', 'invalid credentials')

// RFC 6750: the scheme in any case, one credential. Two headers arrive joined by a comma and are refused.
const BEARER = /^bearer +([A-Za-z0-9_-]+)$/i

const prove = async (deps: AuthDeps, keyId: KeyId, clientId: ClientId): Promise<Proven | undefined> => {
  const cache = (deps.memory.apiKeys ??= new Map())
  const from = deps.now()
  const cached = cache.get(keyId)
  if (cached && isFresh(cached, from)) return cached
  cache.delete(keyId)
  const proven = await readProof(deps, keyId, clientId)
  if (!proven) return undefined
  // Counted from before the read: a revocation during the read takes effect within the same time.
  keepNewest(cache, CACHE_LIMIT).set(keyId, { ...proven, from, until: addMs(from, CACHE_MS) })
  return proven
}

/** Key and client in one consistent batch read. Undefined unless both exist, belong together and may be used. */
const readProof = async (deps: AuthDeps, keyId: KeyId, clientId: ClientId): Promise<Proven | undefined> => {
  const [keyItem, clientItem] = await deps.table.getMany([apiKeyKey(keyId), clientKey(clientId)])
  if (!keyItem || !clientItem) return undefined
  const key = v.parse(ApiKeySchema, keyItem)
  const client = v.parse(ClientSchema, clientItem)
  if (key.clientId !== clientId || key.revokedAt !== undefined || !client.enabled) return undefined
  return { client, expiresAt: key.expiresAt, permissions: key.permissions }
}
