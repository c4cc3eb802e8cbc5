import * as v from 'valibot'
import { revokeApiKey, shownKeys } from '../../shared/client/api-key-store.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({ operator: OPERATOR, client_id: v.string(), key_id: v.string() })

export const handler = adminHandler(
  {
    summary:
      'Revokes a key permanently; every request with it is refused within 15 s. Safe to repeat.',
    input,
  },
  async (deps, request) => {
    const [key] = await shownKeys(deps, [await revokeApiKey(deps, request)])
    return { ...key }
  },
)
