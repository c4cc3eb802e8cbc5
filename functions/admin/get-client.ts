import * as v from 'valibot'
import { parseClientId, toClientDto } from '../../shared/client/client-dto.ts'
import { findClient } from '../../shared/client/client-store.ts'
import { notFound } from '../../shared/errors.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

/** Shows one merchant. */
export const handler = adminHandler(v.strictObject({ client_id: v.string() }), async (input, deps) => {
  const client = await findClient(deps, parseClientId(input.client_id))
  if (!client) throw notFound('client')
  return toClientDto(client)
})
