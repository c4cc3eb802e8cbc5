import * as v from 'valibot'
import { BookDaySchema } from '../../shared/journal/day-totals.ts'
import { markSettlementPaid } from '../../shared/payout/mark-settlement-paid.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'
import { BANK_REFERENCE } from '../../shared/text-field.ts'

const summary =
  'Records once that the bank transfer was made, with its reference. It is refused while the ' +
  'settlement has figures without an approval; the refusal names them. value_date is for a bank ' +
  'whose references begin again each day.'

const input = v.strictObject({
  operator: OPERATOR,
  settlement_id: v.string(),
  bank_reference: BANK_REFERENCE,
  value_date: v.optional(BookDaySchema),
  notes: v.optional(NOTES),
})

export const handler = adminHandler({ summary, input, hasDryRun: true }, async (request, deps) =>
  toOperatorSettlement(await markSettlementPaid(deps, request)),
)
