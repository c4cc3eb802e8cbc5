import * as v from 'valibot'
import { PAYMENT_METHODS } from '../../payment-method.ts'

const amount = (what: string) => v.pipe(v.number(), v.integer(), v.description(what))

/** A payment in a settlement (design section 8), for its type and for the API description. */
export const SettledPaymentDtoSchema = v.object({
  payment_id: v.pipe(v.string(), v.uuid()),
  external_reference: v.optional(v.string()),
  method: v.picklist(PAYMENT_METHODS),
  channel_code: v.optional(v.string()),
  paid_at: v.pipe(v.string(), v.isoTimestamp()),
  notional_minor: amount('What the customer paid.'),
  xendit_fee_minor: amount("The provider's actual fee."),
  hexolus_markup_minor: amount("The gateway's markup."),
  client_net_minor: amount('What of it the settlement pays out.'),
})

export type SettledPaymentDto = v.InferOutput<typeof SettledPaymentDtoSchema>
