import * as v from 'valibot'
import { ENTRY_TYPES } from '../../journal/entry.ts'
import { PAYMENT_METHODS } from '../../payment-status.ts'

/** One movement of a merchant's money (design section 8): its type and its API description. */
export const EntryDtoSchema = v.object({
  id: v.pipe(v.string(), v.uuid()),
  type: v.pipe(v.picklist(ENTRY_TYPES), v.description('What moved the money.')),
  payment_id: v.optional(v.pipe(v.string(), v.uuid())),
  recredited_settlement_id: v.optional(
    v.pipe(
      v.string(),
      v.uuid(),
      v.description('Only for a `recredit`: the failed settlement whose sums it credits again.'),
    ),
  ),
  returned_settlement_id: v.optional(
    v.pipe(
      v.string(),
      v.uuid(),
      v.description('Only for a `returned`: the paid settlement whose transfer came back.'),
    ),
  ),
  settlement_id: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description('The settlement that contains it. Null if it is not settled yet.'),
  ),
  external_reference: v.optional(v.string()),
  method: v.optional(v.picklist(PAYMENT_METHODS)),
  channel_code: v.optional(v.string()),
  paid_at: v.optional(time('When the payment succeeded.')),
  posted_at: time('When the entry was written.'),
  eligible_at: time(
    'From when a settlement may contain the entry. It is in the settlement with period_start <= ' +
      'eligible_at - 24 h < period_end.',
  ),
  notional_minor: amount(
    'The amount that customers paid, or got back if it is negative. Adjustments have one too.',
  ),
  xendit_fee_minor: amount("The provider's actual fee."),
  hexolus_markup_minor: amount("The gateway's markup."),
  client_net_minor: amount('Your credit by this entry: notional less fee and markup.'),
  carried_minor: v.optional(
    amount(
      'Only for a `recredit` in the balance: the net that it moves from a failed settlement to ' +
        'the next. Its other figures are zero there.',
    ),
  ),
})

function time(text: string) {
  return v.pipe(v.string(), v.isoTimestamp(), v.description(text))
}

function amount(text: string) {
  return v.pipe(v.number(), v.integer(), v.description(text))
}

export type EntryDto = v.InferOutput<typeof EntryDtoSchema>
