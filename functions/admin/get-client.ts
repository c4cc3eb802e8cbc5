import * as v from 'valibot'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({ client_id: v.string() })

export const handler = adminHandler(
  { summary: 'Shows one merchant.', input },
  async (deps, { clientId }) => toClientDto(await requireClient(deps, clientId)),
)
