import * as v from 'valibot'
import { requireClient } from '../../shared/client/client-store.ts'
import { itemsOfPage, listDto, pageFields } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'
import { newestEndpoints } from '../../shared/webhook/endpoint/endpoint-store.ts'

const input = v.strictObject({ client_id: v.string(), ...pageFields })

export const handler = adminHandler(
  {
    summary: "A merchant's endpoints, disabled ones too, newest first, without their secrets.",
    input,
  },
  async (deps, { clientId, ...page }) => {
    await requireClient(deps, clientId)
    const read = await newestEndpoints(deps, clientId)
    return listDto(itemsOfPage(read.rows, page).map(toEndpointDto), read, page)
  },
)
