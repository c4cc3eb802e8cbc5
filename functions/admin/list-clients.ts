import * as v from 'valibot'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { listClients } from '../../shared/client/client-store.ts'
import { pageFields, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary = 'All merchants, newest first.'
const input = v.strictObject(pageFields)

export const handler = adminHandler({ summary, input }, async (page, deps) => {
  const clients = await listClients(deps, page)
  return { data: clients.map(toClientDto), pagination: pagination(page) }
})
