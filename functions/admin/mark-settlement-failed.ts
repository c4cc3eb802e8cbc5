import { markSettlementFailed } from '../../shared/payout/mark-settlement-failed.ts'
import { adminHandler, REASONED } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

const summary =
  'Records once that the bank refused the transfer, and why. Moves no funds; ' +
  'recredit-settlement does.'

export const handler = adminHandler(
  { summary, input: REASONED, hasDryRun: true },
  async (deps, request) => toOperatorSettlement(await markSettlementFailed(deps, request)),
)
