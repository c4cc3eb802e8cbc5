import * as v from 'valibot'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { listClients } from '../../shared/client/client-store.ts'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

/** All merchants, newest first. */
export const handler = adminHandler(v.strictObject(pageFields), async (input, deps) => {
  const page = pageOf(input)
  const clients = await listClients(deps, page)
  return { data: clients.map(toClientDto), pagination: pagination(page) }
})
