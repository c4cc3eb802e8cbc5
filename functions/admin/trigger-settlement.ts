import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'
import { triggerSettlement } from '../../shared/settlement/trigger-settlement.ts'

const summary =
  "Settles one merchant now, under the sweep's rules; refused when nothing exceeds the floor. Safe to repeat."
const input = v.strictObject({ operator: OPERATOR, client_id: v.string() })

export const handler = adminHandler({ summary, input }, async ({ operator, client_id }, deps) => {
  const { settlements, summedUntil } = await triggerSettlement(deps, { clientId: parseClientId(client_id), operator })
  return {
    settlements: settlements.map((settlement) => toOperatorSettlement(settlement, deps.now())),
    // Only while a large window is still being summed; it is settled without being asked for again.
    ...(summedUntil !== undefined && { summed_until: summedUntil }),
  }
})
