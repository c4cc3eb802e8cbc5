import * as v from 'valibot'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { markSettlementPaid } from '../../shared/settlement/close-settlement.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

const summary =
  'Records that the bank transfer was made. Once; refused while the provider still owes us some of it, while the ' +
  'account is younger than three days and replaced another, and when money of its payments went back, unless confirmed.'
const input = v.strictObject({
  operator: OPERATOR,
  settlement_id: v.string(),
  notes: v.optional(NOTES),
  confirm_unfunded: v.optional(v.boolean(), false),
  confirm_new_bank: v.optional(v.boolean(), false),
  confirm_reversed: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
})

export const handler = adminHandler({ summary, input }, async (request, deps) =>
  toOperatorSettlement(
    await markSettlementPaid(deps, {
      settlementId: request.settlement_id,
      operator: request.operator,
      notes: request.notes,
      confirmUnfunded: request.confirm_unfunded,
      confirmNewBank: request.confirm_new_bank,
      confirmReversed: request.confirm_reversed,
    }),
    deps.now(),
  ),
)
