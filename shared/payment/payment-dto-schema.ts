import * as v from 'valibot'
import { MOVEMENT_TYPES, REVERSAL_KINDS } from '../journal/payment-money.ts'
import { FAILURE_REASONS, PAYMENT_METHODS, PAYMENT_STATUSES } from '../payment-status.ts'
import { CustomerSchema, FEE_STATUSES } from './payment.ts'

/*
 * What merchants are shown, for the type of what we answer and for the API description. Only its types are imported by
 * what is deployed: nothing is parsed with it there.
 */

const id = (what: string) => v.pipe(v.string(), v.uuid(), v.description(what))
const time = (what: string) => v.pipe(v.string(), v.isoTimestamp(), v.description(what))
const amount = (what: string) => v.pipe(v.number(), v.integer(), v.description(what))
const text = (what: string) => v.pipe(v.string(), v.description(what))

/** Fields that the `data` object of a webhook shares with the payment DTO (spec 6.2). */
export const WebhookDataSchema = v.object({
  id: id('Identifier of the payment.'),
  client_id: id('The merchant whose payment it is.'),
  external_reference: v.optional(text('Your own order or invoice id, as it was sent. Not checked for uniqueness.')),
  method: v.picklist(PAYMENT_METHODS),
  channel_code: v.optional(text('Bank or wallet. Absent for `qris`.')),
  notional_minor: amount('What the customer pays: the `amount` of the request.'),
  xendit_fee_minor: amount("The provider's fee: estimated at first, final once `fee_status` is no longer `estimated`."),
  hexolus_markup_minor: amount("The gateway's markup: 0.1 percent of `notional_minor`."),
  client_net_minor: amount('What you are credited: `notional_minor` less fee and markup. May be negative.'),
  fee_status: v.pipe(
    v.picklist(FEE_STATUSES),
    v.description('Book `client_net_minor` once this is no longer `estimated`: it does not move any more then.'),
  ),
  currency: v.literal('IDR'),
  status: v.pipe(
    v.picklist(PAYMENT_STATUSES),
    v.description('All but `pending` are terminal: no payment leaves them.'),
  ),
  failure_reason: v.optional(
    v.pipe(
      v.picklist(FAILURE_REASONS),
      v.description('Why it failed; present once `failed`. `wrong_amount`: what came is not what was asked for.'),
    ),
  ),
  payment_destination: text(
    'What to show the customer. `virtual_account`: the account number. `qris`: the text to draw as a QR code. `ewallet`: ' +
      'the URL to redirect to, or empty where the wallet calls the customer by itself (OVO).',
  ),
  customer: v.optional(CustomerSchema),
  description: v.optional(v.string()),
  metadata: v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description('As it was sent, digit for digit.'))),
  created_at: time('When the payment was created.'),
  paid_at: v.optional(time('When the customer paid; present once `succeeded`.')),
})

/** Further fields of `data` in `payment.reversed` (design section 8). */
const MovementDataSchema = v.object({
  type: v.pipe(
    v.picklist(MOVEMENT_TYPES),
    v.description('What happened: money went back, or (`dispute_won`, or a refund that was reversed) came again.'),
  ),
  amount_minor: amount('What this movement is about: refunded, disputed, or won.'),
  taken_back_minor: amount('What you have given back of the payment in all, after it; at most `client_net_minor`.'),
})

export const ReversedDataSchema = v.object({ ...WebhookDataSchema.entries, ...MovementDataSchema.entries })

/** The payment DTO (spec 2.1). */
export const PaymentDtoSchema = v.object({
  ...WebhookDataSchema.entries,
  expires_at: v.optional(time('Until when it can be paid, where an expiry applies.')),
  reversal: v.optional(
    v.pipe(
      v.object({
        kind: v.picklist(REVERSAL_KINDS),
        amount_minor: amount('All that went back so far.'),
        at: time('When the last of it did.'),
        undone_at: v.optional(time('When a dispute was won and all of it came again.')),
      }),
      v.description('Money that the provider took back after success. The status stays `succeeded`.'),
    ),
  ),
})

export type WebhookData = v.InferOutput<typeof WebhookDataSchema>
export type MovementData = v.InferOutput<typeof MovementDataSchema>
export type PaymentDto = v.InferOutput<typeof PaymentDtoSchema>
