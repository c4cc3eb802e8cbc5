import * as v from 'valibot'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { listClients } from '../../shared/client/client-store.ts'
import { listDto, pageFields } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject(pageFields)

export const handler = adminHandler(
  { summary: 'All merchants, newest first.', input },
  async (deps, page) => {
    const read = await listClients(deps, page)
    return listDto(read.rows.map(toClientDto), read, page)
  },
)
