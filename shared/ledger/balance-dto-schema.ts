import * as v from 'valibot'
import { amount, described, ID, TIME } from '../dto-field.ts'

/** The balance object (spec 2.2), as a type and for the API description only. */
export const BalanceDtoSchema = v.object({
  client_id: ID,
  currency: v.literal('IDR'),
  available_minor: amount(
    'Net of failed settlements that were credited again, until a new settlement records them.',
  ),
  pending_minor: amount('Net of succeeded payments that are not in a settlement yet.'),
  in_settlement_minor: v.optional(
    amount(
      'Net of settlements not paid out yet, or failed and not credited again. Only with ' +
        '`include=settlements`.',
    ),
  ),
  paid_out_minor: v.optional(
    amount('Net of settlements that were paid out. Only with `include=settlements`.'),
  ),
  updated_at: described(
    v.nullable(TIME),
    'When a figure last changed, those of `include=settlements` too; null for a merchant that ' +
      'never received a payment.',
  ),
})

export type BalanceDto = v.InferOutput<typeof BalanceDtoSchema>
