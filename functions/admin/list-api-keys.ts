import * as v from 'valibot'
import { listApiKeys, shownKeys } from '../../shared/client/api-key-store.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { listDto, pageFields } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({ client_id: v.string(), ...pageFields })

export const handler = adminHandler(
  {
    summary:
      "A merchant's keys, without the secret texts, newest first; revoked and expired keys are " +
      'included.',
    input,
  },
  async (deps, { clientId, ...page }) => {
    await requireClient(deps, clientId)
    const read = await listApiKeys(deps, clientId, page)
    return listDto(await shownKeys(deps, read.rows), read, page)
  },
)
