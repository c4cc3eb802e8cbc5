import * as v from 'valibot'
import { parseClientId, toClientDto } from '../../shared/client/client-dto.ts'
import { findClient } from '../../shared/client/client-store.ts'
import { notFound } from '../../shared/errors.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary = 'Shows one merchant.'
const input = v.strictObject({ client_id: v.string() })

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  const client = await findClient(deps, parseClientId(request.client_id))
  if (!client) throw notFound('client')
  return toClientDto(client)
})
