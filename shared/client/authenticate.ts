import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { isFresh, keepNewest } from '../memory.ts'
import { apiKeyKey, clientKey } from '../table/keys.ts'
import { addMs, END_OF_TIME, SECOND_MS } from '../time.ts'
import {
  type ApiKey,
  ApiKeySchema,
  bearerPattern,
  type KeyId,
  keyIdOf,
  noteKeyUse,
} from './api-key-store.ts'
import { type Caller, CallerSchema } from './client.ts'

type AuthDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'runInBackground' | 'memory'>

type Request = {
  /** A read-only key may not make such a request. */
  readonly changes?: boolean
  /** Called before a request can be refused for its content. */
  readonly onAuthenticated?: (caller: {
    readonly client_id: ClientId
    readonly key_id: KeyId
  }) => void
}

/** A revocation, a disabled client and a changed limit take effect within this time. */
const CACHE_MS = 15 * SECOND_MS

type ProvenKey = { readonly client: Caller } & Pick<ApiKey, 'expiresAt' | 'permissions'>

declare module '../memory.ts' {
  interface Memory {
    /** No refusal is cached: a new key, or a client that was just enabled, works at once. */
    apiKeys?: Map<KeyId, ProvenKey & Cached>
  }
}

/**
 * The client of an `Authorization` header (spec section 5). Throws 403 `forbidden` for a change
 * with a read-only key, and the same 401 `auth` for a key that is missing, malformed, unknown,
 * expired, revoked, of another stage or of a disabled client. The key's text is never logged and
 * never part of an error.
 */
export async function authenticate(
  deps: AuthDeps,
  authorizationHeader = '',
  { changes = false, onAuthenticated }: Request = {},
): Promise<Caller> {
  if (!new RegExp(bearerPattern(deps.stage.name)).test(authorizationHeader))
    throw invalidCredentials()
  const text = authorizationHeader.slice(authorizationHeader.indexOf('gk_'))
  const clientId = ifValid(ClientIdSchema, text.split('_')[2])
  if (clientId === undefined) throw invalidCredentials()
  const keyId = keyIdOf(text)
  const provenKey = await proveKey(deps, keyId, clientId)
  if (!provenKey || (provenKey.expiresAt ?? END_OF_TIME) <= deps.now()) throw invalidCredentials()
  onAuthenticated?.({ client_id: clientId, key_id: keyId })
  noteKeyUse(deps, clientId, keyId)
  if (changes && provenKey.permissions === 'read_only')
    throw new GatewayError('forbidden', 'this API key may only read')
  return provenKey.client
}

/** The same words for every cause (spec section 5). */
export function invalidCredentials() {
  return new GatewayError('auth', 'invalid credentials')
}

const ReadKeySchema = v.pick(ApiKeySchema, ['clientId', 'expiresAt', 'permissions', 'revokedAt'])

const READ_FIELDS = [...v.keyof(ReadKeySchema).options, ...v.keyof(CallerSchema).options]

/**
 * Key and client by one consistent read, or cached. Undefined unless both belong together and may
 * be used.
 */
async function proveKey(
  deps: AuthDeps,
  keyId: KeyId,
  clientId: ClientId,
): Promise<ProvenKey | undefined> {
  const cache = (deps.memory.apiKeys ??= new Map())
  const from = deps.now()
  const cached = cache.get(keyId)
  if (cached && isFresh(cached, from)) return cached
  cache.delete(keyId)
  const [keyItem, clientItem] = await deps.table.getMany(
    [apiKeyKey(keyId), clientKey(clientId)],
    'consistent',
    READ_FIELDS,
  )
  if (!keyItem || !clientItem) return undefined
  const key = v.parse(ReadKeySchema, keyItem)
  const client = v.parse(CallerSchema, clientItem)
  if (key.clientId !== clientId || key.revokedAt !== undefined || !client.enabled) return undefined
  const provenKey = { client, expiresAt: key.expiresAt, permissions: key.permissions }
  // The time counts from before the read, and so includes a revocation during the read.
  keepNewest(cache, 1_000).set(keyId, { ...provenKey, from, until: addMs(from, CACHE_MS) })
  return provenKey
}
