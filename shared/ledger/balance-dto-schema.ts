import * as v from 'valibot'

/** The balance object (spec 2.2), as a type and for the API description only. */
export const BalanceDtoSchema = v.object({
  client_id: v.pipe(v.string(), v.uuid()),
  currency: v.literal('IDR'),
  available_minor: amount(
    'Net of failed settlements that were credited again, until a new settlement records them.',
  ),
  pending_minor: amount('Net of succeeded payments that are not in a settlement yet.'),
  in_settlement_minor: v.optional(
    amount(
      'Net of settlements that are not paid out yet, failed ones included. Only with ' +
        '`include=settlements`.',
    ),
  ),
  paid_out_minor: v.optional(
    amount('Net of settlements that were paid out. Only with `include=settlements`.'),
  ),
  updated_at: v.pipe(
    v.nullable(v.pipe(v.string(), v.isoTimestamp())),
    v.description(
      'When a figure last changed, those of `include=settlements` too; null for a merchant that ' +
        'never received a payment.',
    ),
  ),
})

function amount(text: string) {
  return v.pipe(v.number(), v.integer(), v.description(text))
}

export type BalanceDto = v.InferOutput<typeof BalanceDtoSchema>
