import { adminHandler, REASONED } from '../../shared/runtime/admin-handler.ts'
import { recreditSettlement } from '../../shared/settlement/recredit-settlement.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

export const handler = adminHandler(
  {
    summary:
      'Returns the net of a failed settlement to available, once; the next sweep or trigger ' +
      'settles it again.',
    input: REASONED,
    hasDryRun: true,
  },
  async (deps, request) => toOperatorSettlement(await recreditSettlement(deps, request)),
)
