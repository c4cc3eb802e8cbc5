import * as v from 'valibot'
import { CLIENT_FIELDS, parseClientId, toClientDto } from '../../shared/client/client-dto.ts'
import { changeClient } from '../../shared/client/client-store.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const Changes = v.partial(v.strictObject(CLIENT_FIELDS))

/** Changes the fields given; null clears bank, return_url or rate_limit_per_second. Safe to repeat. */
export const handler = adminHandler(
  v.pipe(
    v.strictObject({ operator: OPERATOR, client_id: v.string(), ...Changes.entries }),
    v.check((input) => Object.keys(Changes.entries).some((field) => field in input), 'name a field to change'),
  ),
  async (input, deps) => {
    const client = await changeClient(deps, {
      clientId: parseClientId(input.client_id),
      operator: input.operator,
      changes: {
        name: input.name,
        enabled: input.enabled,
        settlementFloorMinor: input.settlement_floor_minor,
        bank: input.bank,
        returnUrl: input.return_url,
        rateLimitPerSecond: input.rate_limit_per_second,
      },
    })
    return toClientDto(client)
  },
)
