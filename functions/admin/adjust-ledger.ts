import * as v from 'valibot'
import { AdjustedMinorSchema } from '../../shared/money.ts'
import { adjustLedger, toAdjustmentDto } from '../../shared/posting/adjust-ledger.ts'
import { ADJUSTMENT_KINDS } from '../../shared/posting/adjustment-store.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { REFERENCE } from '../../shared/text-field.ts'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  kind: v.picklist(ADJUSTMENT_KINDS),
  amount_minor: AdjustedMinorSchema,
  reference: REFERENCE,
  provider_transaction_id: v.optional(REFERENCE),
  notes: v.optional(NOTES),
})

export const handler = adminHandler(
  {
    summary:
      "Adjusts a merchant's balance by one entry: money it paid back by bank (recovered), a " +
      'write-off (written_off), or a correction. One entry for each reference; the next ' +
      'settlement shows it as a line.',
    input,
    hasDryRun: true,
  },
  async (deps, request) => toAdjustmentDto(await adjustLedger(deps, request)),
)
