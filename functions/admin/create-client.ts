import * as v from 'valibot'
import type { Client } from '../../shared/client/client.ts'
import { CLIENT_FIELDS, DEFAULT_SETTLEMENT_FLOOR, toClientDto } from '../../shared/client/client-dto.ts'
import { insertClient } from '../../shared/client/client-store.ts'
import { initialParts } from '../../shared/client/ledger-parts.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const summary =
  'Registers a merchant. It can take payments after issue-api-key. Without a floor it gets the default floor.'
const input = v.strictObject({
  operator: OPERATOR,
  name: CLIENT_FIELDS.name,
  enabled: v.optional(CLIENT_FIELDS.enabled, true),
  settlement_floor_minor: v.optional(CLIENT_FIELDS.settlement_floor_minor, DEFAULT_SETTLEMENT_FLOOR),
  bank: v.optional(CLIENT_FIELDS.bank),
  return_url: v.optional(CLIENT_FIELDS.return_url),
  rate_limit_per_second: v.optional(CLIENT_FIELDS.rate_limit_per_second),
  payout_hold: v.optional(CLIENT_FIELDS.payout_hold),
  ledger_parts: v.optional(CLIENT_FIELDS.ledger_parts),
})

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  const createdAt = deps.now()
  const client: Client = {
    clientId: v.parse(ClientIdSchema, deps.newId()),
    name: request.name,
    enabled: request.enabled,
    settlementFloorMinor: request.settlement_floor_minor,
    bank: request.bank ? { ...request.bank, since: createdAt } : undefined,
    returnUrl: request.return_url ?? undefined,
    rateLimitPerSecond: request.rate_limit_per_second ?? undefined,
    payoutHold: request.payout_hold ?? undefined,
    ledgerParts: initialParts(request.ledger_parts, createdAt),
    createdAt,
  }
  await insertClient(deps, client, request.operator)
  return toClientDto(client)
})
