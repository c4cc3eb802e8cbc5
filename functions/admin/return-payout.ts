import * as v from 'valibot'
import { BookDaySchema } from '../../shared/journal/day-totals.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { returnPayout } from '../../shared/settlement/return-payout.ts'
import { BANK_REFERENCE } from '../../shared/text-field.ts'

const summary =
  'Books a transfer that came back after its settlement was marked paid, once. The settlement ' +
  'stays paid; the next settlement pays its net again. It needs an approval.'

const input = v.strictObject({
  operator: OPERATOR,
  settlement_id: v.string(),
  bank_reference: BANK_REFERENCE,
  value_date: v.optional(BookDaySchema),
  notes: v.optional(NOTES),
})

export const handler = adminHandler({ summary, input, hasDryRun: true }, (request, deps) =>
  returnPayout(deps, request),
)
