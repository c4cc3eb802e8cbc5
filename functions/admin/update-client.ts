import * as v from 'valibot'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { ClientFields } from '../../shared/client/client-fields.ts'
import { changeClient } from '../../shared/client/client-store.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const Changes = v.partial(ClientFields)

const input = v.pipe(
  v.strictObject({ operator: OPERATOR, client_id: v.string(), ...Changes.entries }),
  v.check(
    (fields) => Object.keys(Changes.entries).some((field) => field in fields),
    'name a field to change',
  ),
)

export const handler = adminHandler(
  {
    summary:
      'Changes the fields given; null clears bank, return_url, rate_limit_per_second or ' +
      'payout_hold. Safe to repeat.',
    input,
  },
  async (deps, { clientId, operator, ...changes }) =>
    toClientDto(await changeClient(deps, { clientId, operator, changes })),
)
