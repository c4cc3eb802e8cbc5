import * as v from 'valibot'
import { amount, described, ID, id, oneOf, time } from '../../dto-field.ts'
import { ENTRY_TYPES } from '../../journal/entry.ts'
import { PAYMENT_METHODS } from '../../payment-status.ts'

/** One movement of a merchant's money (design section 8): its type and its API description. */
export const EntryDtoSchema = v.object({
  id: ID,
  type: oneOf(ENTRY_TYPES, 'What moved the money.'),
  payment_id: v.optional(ID),
  recredited_settlement_id: v.optional(
    id('Only for a `recredit`: the failed settlement whose sums it credits again.'),
  ),
  returned_settlement_id: v.optional(
    id('Only for a `returned`: the paid settlement whose transfer came back.'),
  ),
  settlement_id: described(
    v.nullable(ID),
    'The settlement that contains it. Null if it is not settled yet.',
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
    'What customers paid; if it is negative, what is taken back. Adjustments have one too.',
  ),
  xendit_fee_minor: amount("The provider's final fee."),
  hexolus_markup_minor: amount("The gateway's markup."),
  client_net_minor: amount('Your credit by this entry: notional less fee and markup.'),
  carried_minor: v.optional(
    amount(
      'Only for a `recredit` in the balance: the net that it moves from a failed settlement to ' +
        'the next. Its other figures are zero there.',
    ),
  ),
})

export type EntryDto = v.InferOutput<typeof EntryDtoSchema>
