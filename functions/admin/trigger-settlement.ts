import * as v from 'valibot'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { triggerSettlement } from '../../shared/settlement/settle-client.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

const input = v.strictObject({ operator: OPERATOR, client_id: v.string() })

export const handler = adminHandler(
  {
    summary:
      "Settles one merchant now, by the sweep's rules; refused if no money exceeds the floor. " +
      'Safe to repeat.',
    input,
    hasDryRun: true,
  },
  async (deps, request) => {
    const { settlement, isContinuing } = await triggerSettlement(deps, request)
    return {
      settlements: settlement ? [toOperatorSettlement(settlement)] : [],
      // The worker still posts or sums. The settlement needs no other call.
      ...(isContinuing && { continuing: true }),
    }
  },
)
