import * as v from 'valibot'
import { issueApiKey, KEY_PERMISSIONS, toApiKeyDto } from '../../shared/client/api-key-store.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  permissions: v.optional(v.picklist(KEY_PERMISSIONS)),
  expires_in_seconds: v.nullish(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(10 * 365 * 24 * 3_600, 'must be at most ten years'),
    ),
  ),
})

export const handler = adminHandler(
  {
    summary:
      'Issues a key. Only this answer shows it; hand it over by a secure channel. Without an ' +
      "expiry, the key expires after the stage's default lifetime; with null, never.",
    input,
  },
  async (deps, request) => {
    const { text, key } = await issueApiKey(deps, request)
    return { api_key: text, ...toApiKeyDto(key), last_used_on: null }
  },
)
