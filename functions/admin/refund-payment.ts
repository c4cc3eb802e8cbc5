import * as v from 'valibot'
import { minor } from '../../shared/money.ts'
import { refundPayment } from '../../shared/posting/refund-payment.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { BANK_REFERENCE, REFERENCE } from '../../shared/text-field.ts'

const input = v.pipe(
  v.strictObject({
    operator: OPERATOR,
    payment_id: v.string(),
    amount_minor: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.transform(minor)),
    provider_transaction_id: v.optional(REFERENCE),
    bank_reference: v.optional(BANK_REFERENCE),
    notes: v.optional(NOTES),
  }),
  v.check(
    ({ provider_transaction_id: row, bank_reference: bank }) =>
      (row === undefined) !== (bank === undefined),
    'give provider_transaction_id or bank_reference',
  ),
)

export const handler = adminHandler(
  {
    summary:
      'Books a refund by transfer: one that our bank will make, with its reference and an ' +
      "approval, or a row of the provider that nothing names, with exactly the row's amount.",
    input,
    hasDryRun: true,
  },
  refundPayment,
)
