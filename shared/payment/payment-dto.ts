import type { Movement } from '../journal/payment-money.ts'
import { jsonText } from '../json.ts'
import type { HeldMoney, Payment } from './payment.ts'
import type {
  DisputedData,
  HeldData,
  PaymentDto,
  ReversedData,
  WebhookData,
} from './payment-dto-schema.ts'

/** The payment DTO (spec 2.1). Fields without a value are undefined, so JSON omits them. */
export function toPaymentDto(payment: Payment): PaymentDto {
  return {
    ...toWebhookData(payment),
    expires_at: payment.expiresAt,
    // Additive to the spec, and only in the payment, because the bytes of an event never change.
    reversal: payment.reversal && {
      kind: payment.reversal.kind,
      amount_minor: payment.reversal.amountMinor,
      at: payment.reversal.at,
      undone_at: payment.reversal.undoneAt,
    },
    dispute: payment.dispute && toDisputeDto(payment.dispute),
    held: payment.held?.map(toHeldDto),
  }
}

function toHeldDto({ amountMinor, cause, status, at }: HeldMoney) {
  return { amount_minor: amountMinor, cause, status, at }
}

/** The `data` object of `payment.held` (design section 8). */
export function toHeldData(payment: Payment, held: HeldMoney): HeldData {
  return { ...toWebhookData(payment), held: toHeldDto(held) }
}

function toDisputeDto({ state, amountMinor, answerBy }: NonNullable<Payment['dispute']>) {
  return { status: state, amount_minor: amountMinor, due_at: answerBy }
}

/** The `data` object of `payment.disputed` (design section 14). */
export function toDisputedData(
  payment: Payment,
  dispute: NonNullable<Payment['dispute']>,
): DisputedData {
  return { ...toWebhookData(payment), dispute: toDisputeDto(dispute) }
}

/** The `data` object of a webhook (spec 6.2): a part of the payment DTO. */
export function toWebhookData(payment: Payment): WebhookData {
  return {
    id: payment.paymentId,
    client_id: payment.clientId,
    external_reference: payment.externalReference,
    method: payment.method,
    channel_code: payment.channelCode,
    notional_minor: payment.notionalMinor,
    xendit_fee_minor: payment.providerFeeMinor,
    hexolus_markup_minor: payment.markupMinor,
    client_net_minor: payment.netMinor,
    // Additive to the spec: it tells merchants that the net may still change.
    fee_status: payment.feeStatus,
    currency: payment.currency,
    status: payment.status,
    failure_reason: payment.failureReason,
    payment_destination: payment.paymentDestination,
    customer: payment.customer,
    description: payment.description,
    metadata: payment.metadata === undefined ? undefined : jsonText(payment.metadata),
    created_at: payment.createdAt,
    paid_at: payment.paidAt,
  }
}

/** The `data` object of `payment.reversed` (design section 8). */
export function toReversedData(payment: Payment, { type, amountMinor }: Movement): ReversedData {
  return {
    ...toWebhookData(payment),
    type,
    amount_minor: amountMinor,
    taken_back_minor: payment.takenBackMinor,
  }
}
