import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'
import { triggerSettlement } from '../../shared/settlement/trigger-settlement.ts'

const summary =
  "Settles one merchant now, under the sweep's rules; refused when nothing exceeds the floor. Safe to repeat."
const input = v.strictObject({ operator: OPERATOR, client_id: v.string() })

export const handler = adminHandler({ summary, input }, async ({ operator, client_id }, deps) => {
  const { settlement, isContinuing } = await triggerSettlement(deps, { clientId: parseClientId(client_id), operator })
  return {
    settlements: settlement ? [toOperatorSettlement(settlement, deps.now())] : [],
    // A large window is still being summed; it is settled without another call.
    ...(isContinuing && { continuing: true }),
  }
})
