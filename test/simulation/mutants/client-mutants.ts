import { mutantsOf } from '../mutation/mutant.ts'

/** Who may ask, how often, and of what. */
export const CLIENT_MUTANTS = [
  ...mutantsOf('readProof', ['authenticate'], {
    'a revoked key works': 'drop key.revokedAt !== undefined',
    'the key of a disabled client works': 'drop !client.enabled',
    "a key works for the client it names and not for its item's": 'drop key.clientId !== clientId',
  }),
  ...mutantsOf('authenticate', ['authenticate'], {
    'an expired key works': 'drop isPast(..._)',
    'a client is not held to its rate limit': { edit: 'drop enforceRateLimit(..._)', tests: ['api-authentication'] },
  }),
  ...mutantsOf('isPast', ['authenticate'], {
    'a key works in the very millisecond it expires': 'time <= now -> time < now',
  }),
  ...mutantsOf('prove', ['authenticate'], {
    'a proof is kept for ever': 'drop from < cached.until',
    'a proof outlives a clock that was set back': 'drop cached.from <= from',
    'a proof is counted from behind the read': 'addMs(from, CACHE_MS) -> addMs(deps.now(), CACHE_MS)',
  }),
  ...mutantsOf('claimedClient', ['authenticate'], {
    'a key of another stage is looked up': 'drop keyStage === stage',
  }),
  ...mutantsOf('countRequests', ['authenticate', 'enforce-rate-limit'], {
    'one request over the limit gets through': "below(..._) -> below('requests', room + 1)",
    'the first request of a second is refused': "drop absent('requests')",
    'the limit is not asked about when counting': 'any(..._) -> undefined',
  }),
  ...mutantsOf('countTogether', ['authenticate', 'enforce-rate-limit'], {
    'what passed before is not counted': 'use.thisSecond - use.counted -> weight',
  }),
  ...mutantsOf('isWithin', ['enforce-rate-limit'], {
    'a flood is never counted together': 'drop use.thisSecond > _',
    'every environment has the whole quarter': 'soFar / (deps.stage.environments ?? 1) -> soFar',
  }),
  ...mutantsOf('isScarce', ['provider-share', 'actual-fee'], {
    'plenty is treated as scarce': 'left < callsPerMinute(stage, now()) * SCARCE_BELOW -> true',
  }),
  ...mutantsOf('takeShare', ['provider-share'], {
    'a client has the whole of a scarce quota': 'quota * SHARE -> quota',
  }),
  ...mutantsOf('countClientCall', ['provider-share'], {
    'the share is not asked about when counting': 'any(..._) -> undefined',
  }),
  ...mutantsOf('issueApiKey', ['admin-api-keys'], {
    'a key is issued to a client that does not exist': { edit: 'drop client: _', tests: ['fuzz-operator-actions'] },
    'a key is written over another one': 'drop isNew',
  }),
  ...mutantsOf('revokeApiKey', ['admin-api-keys'], {
    'a second revocation overwrites the first': "drop absent('revokedAt')",
    "a key's owner is not asked about when it is revoked": {
      edit: 'drop equals(..._)',
      equivalent: 'The key was read as the client’s just before, and keys never change hands: a second lock.',
    },
  }),
  ...mutantsOf('findApiKey', ['admin-api-keys'], {
    "another client's key is revoked": 'key?.clientId === clientId ? key : undefined -> key',
  }),
  ...mutantsOf('insertClient', ['admin-clients'], {
    'a client is written over another one': 'client: put(_, _, isNew) -> client: put(_, _)',
    'a settlement window is written over another one': 'window: put(_, _, isNew) -> window: put(_, _)',
  }),
  ...mutantsOf('changeClient', ['admin-update-client'], {
    'a change is made over one of another operator': 'drop ...CHANGEABLE.map(_)',
    'a change makes a client that does not exist': {
      edit: 'drop exists',
      equivalent: 'The client was read just before and clients are never deleted: a second lock.',
    },
  }),
  ...mutantsOf('findPayment', ['api-tenancy'], {
    "another client's payment is shown": 'drop stored.clientId !== clientId',
    'a payment without a destination is shown': "drop stored.status === 'creating'",
  }),
  ...mutantsOf('asRead', ['endpoint-actions'], {
    'a deleted endpoint is changed': "drop absent('deletedAt')",
    'an endpoint is changed over one who enabled it': "drop equals('enabled', enabled)",
    'an endpoint is changed over one who subscribed it anew': "drop equals('eventTypes', eventTypes)",
  }),
  ...mutantsOf('insertEndpoint', ['endpoint-actions'], { 'an endpoint is written over another one': 'drop isNew' }),
  ...mutantsOf('listAllEndpoints', ['fan-out-event'], {
    'only the first page of endpoints is read': 'drop cursor = found.cursor',
  }),
  ...mutantsOf('registerEndpoint', ['register-endpoint'], {
    'endpoint secrets are in an alphabet that libraries refuse': "'base64' -> 'base64url'",
  }),
  ...mutantsOf('deleteEndpoint', ['endpoint-actions'], {
    'the secret of an endpoint outlives it': 'drop deps.secrets.remove(_)',
  }),
]
