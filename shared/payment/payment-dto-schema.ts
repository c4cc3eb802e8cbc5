import * as v from 'valibot'
import { amount, described, id, oneOf, text, time } from '../dto-field.ts'
import { MOVEMENT_TYPES, REVERSAL_KINDS } from '../journal/payment-money.ts'
import { FAILURE_REASONS, PAYMENT_METHODS, PAYMENT_STATUSES } from '../payment-status.ts'
import { DISPUTE_STATES, HELD_STATUSES, SUSPENSE_CAUSES } from '../suspense/suspense.ts'
import { CustomerSchema, FEE_STATUSES } from './payment.ts'

/** Fields that the `data` object of a webhook shares with the payment DTO (spec 6.2). */
export const WebhookDataSchema = v.object({
  id: id('The id of the payment.'),
  client_id: id('The merchant whose payment it is.'),
  external_reference: v.optional(
    text('Your own order or invoice id, unchanged. It need not be unique.'),
  ),
  method: v.picklist(PAYMENT_METHODS),
  channel_code: v.optional(text('Bank or wallet. Absent for `qris`.')),
  notional_minor: amount('The amount that the customer pays: the `amount` of the request.'),
  xendit_fee_minor: amount(
    "The provider's fee. It is final when `fee_status` is no longer `estimated`.",
  ),
  hexolus_markup_minor: amount("The gateway's markup: 0.1 percent of `notional_minor`."),
  client_net_minor: amount(
    'Your credit: `notional_minor` less fee and markup. It may be negative.',
  ),
  fee_status: oneOf(
    FEE_STATUSES,
    '`client_net_minor` is final when this is no longer `estimated`. Book it only then.',
  ),
  currency: v.literal('IDR'),
  status: oneOf(PAYMENT_STATUSES, 'Only `pending` can change. Every other status is final.'),
  failure_reason: v.optional(
    oneOf(
      FAILURE_REASONS,
      'Why a `failed` payment failed. `wrong_amount`: the customer paid another amount.',
    ),
  ),
  payment_destination: text(
    'What to show the customer. `virtual_account`: the account number. `qris`: the text of the ' +
      'QR code. `ewallet`: the URL to redirect to. It is empty if the wallet asks the customer ' +
      'on the phone (OVO).',
  ),
  customer: v.optional(CustomerSchema),
  description: v.optional(v.string()),
  metadata: v.optional(
    described(
      v.record(v.string(), v.unknown()),
      'Your own data, unchanged, numbers digit for digit.',
    ),
  ),
  created_at: time('When the payment was created.'),
  paid_at: v.optional(
    time('When the gateway recorded the success. Only for a `succeeded` payment.'),
  ),
})

/** The `data` object of `payment.reversed` (design section 8). */
export const ReversedDataSchema = v.object({
  ...WebhookDataSchema.entries,
  type: oneOf(
    MOVEMENT_TYPES,
    'Money went back, or returned (`dispute_won`, or an undone reversal).',
  ),
  amount_minor: amount('The amount of this movement: refunded, disputed, or won.'),
  taken_back_minor: amount(
    'The total taken back from you after this movement. At most `client_net_minor`.',
  ),
})

const DisputeDtoSchema = described(
  v.object({
    status: oneOf(
      DISPUTE_STATES,
      '`action_required`: the operator of the gateway may answer it until `due_at`.',
    ),
    amount_minor: v.optional(amount('The disputed amount, if the provider says it.')),
    due_at: v.optional(time('Until when the dispute can be answered.')),
  }),
  'A customer disputes the payment at the bank or wallet. It moves no money: what went back is ' +
    'in `reversal`.',
)

/** The `data` object of `payment.disputed` (design section 14). */
export const DisputedDataSchema = v.object({
  ...WebhookDataSchema.entries,
  dispute: DisputeDtoSchema,
})

const HeldDtoSchema = described(
  v.object({
    amount_minor: amount('What the provider received.'),
    cause: oneOf(
      SUSPENSE_CAUSES.money,
      'Why it is not credited: `second_capture` means that the payment was paid before, ' +
        '`payment_not_pending` that it had ended.',
    ),
    status: oneOf(
      HELD_STATUSES,
      '`open`: the operator of the gateway must give it back. `refunded`: it went back to the ' +
        'customer. `credited`: the payment was credited with it after all. `written_off`: it ' +
        'stays with the operator.',
    ),
    at: time('When it was held.'),
  }),
  'Money that a customer paid for this payment and that is not credited to you.',
)

/** The `data` object of `payment.held` (design section 8). */
export const HeldDataSchema = v.object({ ...WebhookDataSchema.entries, held: HeldDtoSchema })

/** The payment DTO (spec 2.1). */
export const PaymentDtoSchema = v.object({
  ...WebhookDataSchema.entries,
  expires_at: v.optional(time('The end of the time to pay. Absent if there is none.')),
  reversal: v.optional(
    described(
      v.object({
        kind: v.picklist(REVERSAL_KINDS),
        amount_minor: amount(
          'How much of `notional_minor` is taken back now. You bear at most `client_net_minor`.',
        ),
        at: time('When the last reversal happened.'),
        undone_at: v.optional(
          time('When all of it had been returned, for example after a won dispute.'),
        ),
      }),
      'Money that went back after the payment succeeded. The payment stays `succeeded`.',
    ),
  ),
  dispute: v.optional(DisputeDtoSchema),
  held: v.optional(described(v.array(HeldDtoSchema), 'The last ten, oldest first.')),
})

export type WebhookData = v.InferOutput<typeof WebhookDataSchema>
export type ReversedData = v.InferOutput<typeof ReversedDataSchema>
export type DisputedData = v.InferOutput<typeof DisputedDataSchema>
export type HeldData = v.InferOutput<typeof HeldDataSchema>
export type PaymentDto = v.InferOutput<typeof PaymentDtoSchema>
