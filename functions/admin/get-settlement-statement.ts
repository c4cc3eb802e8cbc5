import * as v from 'valibot'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { settlementStatement } from '../../shared/settlement/statement/settlement-entries.ts'

const input = v.strictObject({
  settlement_id: v.string(),
  cursor: v.optional(v.string()),
  format: v.optional(v.picklist(['json', 'csv']), 'json'),
})

export const handler = adminHandler(
  {
    summary:
      'The entries of a settlement, in pages, with totals and with the part that the provider ' +
      'has settled to us.',
    input,
  },
  settlementStatement,
)
