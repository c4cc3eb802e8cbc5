import * as v from 'valibot'
import { AdjustedMinorSchema } from '../../shared/money.ts'
import { adjustHouse } from '../../shared/posting/adjust-house.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { REFERENCE } from '../../shared/text-field.ts'

const amount = v.optional(AdjustedMinorSchema, 0)

const input = v.strictObject({
  operator: OPERATOR,
  bank_minor: amount,
  transit_minor: amount,
  cost_minor: amount,
  other_minor: amount,
  reference: REFERENCE,
  notes: v.optional(NOTES),
})

export const handler = adminHandler(
  {
    summary:
      "Books the house's own money, such as the provider's invoice or a bank charge: bank and " +
      'transit equal cost and other. One entry for each reference. A negative bank amount needs ' +
      'an approval.',
    input,
    hasDryRun: true,
  },
  adjustHouse,
)
