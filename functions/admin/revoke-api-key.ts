import * as v from 'valibot'
import { revokeApiKey } from '../../shared/client/api-key-store.ts'
import { parseClientId, parseKeyId, toApiKeyDto } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

/** Ends a key for good, everywhere within 15 s. Safe to repeat. */
export const handler = adminHandler(
  v.strictObject({ operator: OPERATOR, client_id: v.string(), key_id: v.string() }),
  async (input, deps) => {
    const key = await revokeApiKey(deps, {
      clientId: parseClientId(input.client_id),
      keyId: parseKeyId(input.key_id),
      operator: input.operator,
    })
    return toApiKeyDto(key)
  },
)
