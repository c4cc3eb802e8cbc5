import { markSettlementFailed } from '../../shared/payout/mark-settlement-failed.ts'
import { adminHandler, REASONED } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

export const handler = adminHandler(
  {
    summary:
      'Records once that the bank refused the transfer, and why. Moves no funds; ' +
      'recredit-settlement does.',
    input: REASONED,
    hasDryRun: true,
  },
  async (deps, request) => toOperatorSettlement(await markSettlementFailed(deps, request)),
)
