import * as v from 'valibot'
import type { Client } from '../../shared/client/client.ts'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { ClientFields } from '../../shared/client/client-fields.ts'
import { insertClient } from '../../shared/client/client-store.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const { name, enabled, settlement_floor_minor, ...others } = ClientFields.entries
const input = v.strictObject({
  operator: OPERATOR,
  name,
  enabled: v.optional(enabled, true),
  settlement_floor_minor: v.optional(settlement_floor_minor, 10_000),
  ...v.partial(v.strictObject(others)).entries,
})

export const handler = adminHandler(
  {
    summary:
      'Registers a merchant. It can take payments after issue-api-key. Without a floor it gets ' +
      'the default floor.',
    input,
  },
  async (deps, { operator, ...request }) => {
    const createdAt = deps.now()
    const client: Client = {
      clientId: v.parse(ClientIdSchema, deps.newId()),
      ...request,
      bank: request.bank ? { ...request.bank, since: createdAt } : undefined,
      returnUrl: request.returnUrl ?? undefined,
      rateLimitPerSecond: request.rateLimitPerSecond ?? undefined,
      payoutHold: request.payoutHold ?? undefined,
      createdAt,
    }
    await insertClient(deps, client, operator)
    return toClientDto(client)
  },
)
