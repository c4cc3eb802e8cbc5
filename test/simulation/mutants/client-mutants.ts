import { mutantsOf } from '../mutation/mutant.ts'

const AUTH = 'unit/authenticate'
const KEYS = 'functions/admin/admin-api-keys'
const CLIENTS = 'functions/admin/admin-clients'
const UPDATE = 'functions/admin/admin-update-client'
const TENANCY = 'functions/api/api-tenancy'
const RATE = 'unit/rate-limit'
const ENDPOINTS = 'integration/webhook/change-endpoint'

/** Who may ask, how often, and of what. */
export const CLIENT_MUTANTS = [
  ...mutantsOf('shared/client/authenticate.ts', [
    {
      name: 'a revoked key works',
      find: ' || key.revokedAt !== undefined',
      replace: '',
      tests: [AUTH],
    },
    {
      name: 'the key of a disabled client works',
      find: ' || !client.enabled) return undefined',
      replace: ') return undefined',
      tests: [AUTH],
    },
    {
      name: 'an expired key works',
      find: 'if (!proven || isPast(proven.expiresAt, deps.now())) throw',
      replace: 'if (!proven) throw',
      tests: [AUTH],
    },
    {
      name: 'a key works in the very millisecond it expires',
      find: 'time !== undefined && time <= now',
      replace: 'time !== undefined && time < now',
      tests: [AUTH],
    },
    {
      name: "a key works for the client it names and not for its item's",
      find: 'if (key.clientId !== clientId || ',
      replace: 'if (',
      tests: [AUTH],
    },
    {
      name: 'a proof is kept for ever',
      find: 'cached.from <= from && from < cached.until',
      replace: 'cached.from <= from',
      tests: [AUTH],
    },
    {
      name: 'a proof outlives a clock that was set back',
      find: 'cached.from <= from && from < cached.until',
      replace: 'from < cached.until',
      tests: [AUTH],
    },
    {
      name: 'a proof is counted from behind the read',
      find: 'until: addMs(from, CACHE_MS)',
      replace: 'until: addMs(deps.now(), CACHE_MS)',
      tests: [AUTH],
    },
    {
      name: 'a client is not held to its rate limit',
      find: '  await enforceRateLimit(deps, proven.client)\n',
      replace: '',
      tests: ['functions/api/api-authentication'],
    },
  ]),
  ...mutantsOf('shared/client/api-key.ts', [
    {
      name: 'a key of another stage is looked up',
      find: 'return keyStage === stage && claimed.success',
      replace: 'return claimed.success',
      tests: [AUTH],
    },
  ]),
  ...mutantsOf('shared/client/rate-limit.ts', [
    {
      name: 'one request over the limit gets through',
      find: "below('requests', rateLimitPerSecond)",
      replace: "below('requests', rateLimitPerSecond + 1)",
      tests: [RATE],
    },
    {
      name: 'the first request of a second is refused',
      find: "any(absent('requests'), below('requests', rateLimitPerSecond))",
      replace: "below('requests', rateLimitPerSecond)",
      tests: [RATE],
    },
    {
      name: 'the limit is not asked about when counting',
      find: "any(absent('requests'), below('requests', rateLimitPerSecond))",
      replace: 'undefined',
      tests: [RATE],
    },
  ]),
  ...mutantsOf('shared/client/api-key-store.ts', [
    {
      name: 'a key is issued to a client that does not exist',
      find: '    client: check(clientKey(clientId), exists),\n',
      replace: '',
      tests: [KEYS],
    },
    {
      name: 'a key is written over another one',
      find: '{ ...key, owner: clientId, entity: ENTITY, listedAt: createdAt, id: key.keyId },\n      isNew,',
      replace: '{ ...key, owner: clientId, entity: ENTITY, listedAt: createdAt, id: key.keyId },',
      tests: [KEYS],
    },
    {
      name: 'a second revocation overwrites the first',
      find: "all(equals('clientId', clientId), absent('revokedAt'))",
      replace: "equals('clientId', clientId)",
      tests: ['integration/webhook/lost-claims'],
    },
    {
      name: "a key's owner is not asked about when it is revoked",
      find: "all(equals('clientId', clientId), absent('revokedAt'))",
      replace: "absent('revokedAt')",
      equivalent: 'The key was read as the client’s just before, and keys never change hands: a second lock.',
      tests: [KEYS],
    },
    {
      name: "another client's key is revoked",
      find: 'return key?.clientId === clientId ? key : undefined',
      replace: 'return key',
      tests: [KEYS],
    },
  ]),
  ...mutantsOf('shared/client/client-store.ts', [
    {
      name: 'a client is written over another one',
      find: 'listedAt: createdAt, id: clientId },\n      isNew,',
      replace: 'listedAt: createdAt, id: clientId },',
      tests: [CLIENTS],
    },
    {
      name: 'a settlement window is written over another one',
      find: '        payoutsCounted: true,\n      },\n      isNew,\n',
      replace: '        payoutsCounted: true,\n      },\n',
      tests: [CLIENTS],
    },
    {
      name: 'a change is made over one of another operator',
      find: 'all(exists, ...fields.map((field) => isStill(field, before[field])))',
      replace: 'exists',
      tests: [UPDATE],
    },
    {
      name: 'a change makes a client that does not exist',
      find: 'all(exists, ...fields.map((field) => isStill(field, before[field])))',
      replace: 'all(...fields.map((field) => isStill(field, before[field])))',
      equivalent: 'The client was read just before and clients are never deleted: a second lock.',
      tests: [UPDATE],
    },
  ]),
  ...mutantsOf('shared/payment/find-payment.ts', [
    {
      name: "another client's payment is shown",
      find: "if (stored.status === 'creating' || stored.clientId !== clientId) throw notFound('payment')",
      replace: "if (stored.status === 'creating') throw notFound('payment')",
      tests: [TENANCY],
    },
    {
      name: 'a payment without a destination is shown',
      find: "stored.status === 'creating' || stored.clientId !== clientId",
      replace: 'stored.clientId !== clientId',
      tests: [TENANCY],
    },
  ]),
  ...mutantsOf('shared/webhook/endpoint/endpoint-store.ts', [
    {
      name: 'a deleted endpoint is changed',
      find: "all(absent('deletedAt'), equals('enabled', enabled), equals('eventTypes', eventTypes))",
      replace: "all(equals('enabled', enabled), equals('eventTypes', eventTypes))",
      tests: [ENDPOINTS],
    },
    {
      name: 'an endpoint is changed over one who enabled it',
      find: "all(absent('deletedAt'), equals('enabled', enabled), equals('eventTypes', eventTypes))",
      replace: "all(absent('deletedAt'), equals('eventTypes', eventTypes))",
      tests: [ENDPOINTS],
    },
    {
      name: 'an endpoint is changed over one who subscribed it anew',
      find: "all(absent('deletedAt'), equals('enabled', enabled), equals('eventTypes', eventTypes))",
      replace: "all(absent('deletedAt'), equals('enabled', enabled))",
      tests: [ENDPOINTS],
    },
    {
      name: 'an endpoint is written over another one',
      find: 'put(endpointKey(endpoint.clientId, endpoint.endpointId), endpoint, isNew)',
      replace: 'put(endpointKey(endpoint.clientId, endpoint.endpointId), endpoint)',
      tests: ['integration/webhook/endpoint-store'],
    },
    {
      name: 'only the first page of endpoints is read',
      find: '    cursor = found.cursor\n',
      replace: '',
      tests: ['integration/webhook/fan-out-event'],
    },
  ]),
  ...mutantsOf('shared/webhook/endpoint/register-endpoint.ts', [
    {
      name: 'endpoint secrets are in an alphabet that libraries refuse',
      find: "toString('base64')",
      replace: "toString('base64url')",
      tests: ['integration/webhook/register-endpoint'],
    },
  ]),
  ...mutantsOf('shared/webhook/endpoint/change-endpoint.ts', [
    {
      name: 'the secret of an endpoint outlives it',
      find: '  await deps.secrets.remove(before.secretName)\n',
      replace: '',
      tests: [ENDPOINTS],
    },
  ]),
]
