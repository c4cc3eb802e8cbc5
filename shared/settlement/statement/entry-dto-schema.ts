import * as v from 'valibot'
import { ENTRY_TYPES } from '../../journal/entry.ts'
import { PAYMENT_METHODS } from '../../payment-status.ts'

const amount = (what: string) => v.pipe(v.number(), v.integer(), v.description(what))
const time = (what: string) => v.pipe(v.string(), v.isoTimestamp(), v.description(what))

/** One movement of a merchant's money (design section 8): its type and its API description. */
export const EntryDtoSchema = v.object({
  id: v.pipe(v.string(), v.uuid()),
  type: v.pipe(v.picklist(ENTRY_TYPES), v.description('What moved the money.')),
  payment_id: v.optional(v.pipe(v.string(), v.uuid())),
  recredited_settlement_id: v.optional(
    v.pipe(v.string(), v.uuid(), v.description('Of a `recredit`: the failed settlement whose sums it carries.')),
  ),
  settlement_id: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description('The settlement that took it; null until one does.'),
  ),
  external_reference: v.optional(v.string()),
  method: v.optional(v.picklist(PAYMENT_METHODS)),
  channel_code: v.optional(v.string()),
  paid_at: v.optional(time('When its payment was paid.')),
  posted_at: time('When it was written.'),
  notional_minor: amount('What customers paid, or got back.'),
  xendit_fee_minor: amount("The provider's actual fee."),
  hexolus_markup_minor: amount("The gateway's markup."),
  client_net_minor: amount('What it adds to the merchant: notional less fee and markup.'),
})

export type EntryDto = v.InferOutput<typeof EntryDtoSchema>
