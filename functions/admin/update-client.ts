import * as v from 'valibot'
import { CLIENT_FIELDS, parseClientId, toClientDto } from '../../shared/client/client-dto.ts'
import { changeClient } from '../../shared/client/client-store.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const Changes = v.partial(v.strictObject(CLIENT_FIELDS))

const summary =
  'Changes the fields given; null clears bank, return_url, rate_limit_per_second or payout_hold. Safe to repeat.'
const input = v.pipe(
  v.strictObject({ operator: OPERATOR, client_id: v.string(), ...Changes.entries }),
  v.check((fields) => Object.keys(Changes.entries).some((field) => field in fields), 'name a field to change'),
)

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  const client = await changeClient(deps, {
    clientId: parseClientId(request.client_id),
    operator: request.operator,
    changes: {
      name: request.name,
      enabled: request.enabled,
      settlementFloorMinor: request.settlement_floor_minor,
      bank: request.bank,
      returnUrl: request.return_url,
      rateLimitPerSecond: request.rate_limit_per_second,
      payoutHold: request.payout_hold,
      ledgerParts: request.ledger_parts,
    },
  })
  return toClientDto(client)
})
