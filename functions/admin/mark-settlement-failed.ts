import * as v from 'valibot'
import { markSettlementFailed } from '../../shared/payout/mark-settlement-failed.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

const summary =
  'Records once that the bank refused the transfer, and why. Moves no funds; ' +
  'recredit-settlement does.'
const input = v.strictObject({ operator: OPERATOR, settlement_id: v.string(), notes: NOTES })

export const handler = adminHandler({ summary, input, hasDryRun: true }, async (request, deps) =>
  toOperatorSettlement(await markSettlementFailed(deps, request)),
)
