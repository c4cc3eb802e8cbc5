import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adjustLedger } from '../../shared/posting/adjust-ledger.ts'
import { ADJUSTMENT_FIELDS, toAdjustmentDto } from '../../shared/posting/adjustment-dto.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const summary =
  "Adjusts a merchant's balance by one entry: money it paid back by bank (recovered), a write-off (written_off), or a " +
  'correction. One entry for each reference; the next settlement shows it as a line.'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  ...ADJUSTMENT_FIELDS,
  notes: v.optional(NOTES),
})

export const handler = adminHandler({ summary, input }, async (request, deps) =>
  toAdjustmentDto(
    await adjustLedger(deps, {
      clientId: parseClientId(request.client_id),
      reference: request.reference,
      kind: request.kind,
      amountMinor: request.amount_minor,
      providerTransactionId: request.provider_transaction_id,
      notes: request.notes,
      operator: request.operator,
    }),
  ),
)
