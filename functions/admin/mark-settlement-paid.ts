import { markSettlementPaid } from '../../shared/payout/mark-settlement-paid.ts'
import { adminHandler, TRANSFER } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

export const handler = adminHandler(
  {
    summary:
      'Records once that the bank transfer was made, with its reference. It is refused while the ' +
      'settlement has figures without an approval; the refusal names them. value_date is for a ' +
      'bank whose references begin again each day.',
    input: TRANSFER,
    hasDryRun: true,
  },
  async (deps, request) => toOperatorSettlement(await markSettlementPaid(deps, request)),
)
