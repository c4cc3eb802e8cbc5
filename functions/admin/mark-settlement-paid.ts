import * as v from 'valibot'
import { ConfirmField, markSettlementPaid } from '../../shared/payout/mark-settlement-paid.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'

const summary =
  'Records once that the bank transfer was made, with its reference. It is refused while the ' +
  'settlement needs a check; then repeat the figures of the refusal in "confirm".'

/** Trimmed, because a second use must be the same text. */
const BANK_REFERENCE = v.pipe(
  v.string(),
  v.trim(),
  v.regex(/^[\x20-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters'),
)

const input = v.strictObject({
  operator: OPERATOR,
  settlement_id: v.string(),
  bank_reference: BANK_REFERENCE,
  notes: v.optional(NOTES),
  confirm: v.optional(ConfirmField, {}),
})

export const handler = adminHandler({ summary, input }, async (request, deps) =>
  toOperatorSettlement(await markSettlementPaid(deps, request), deps.now()),
)
