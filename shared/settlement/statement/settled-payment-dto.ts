import type { Payment } from '../../payment/payment.ts'
import type { SettledPaymentDto } from './settled-payment-dto-schema.ts'
import type { StatedPayment } from './statement-page.ts'

/** A payment of a settlement as its merchant sees it (design section 8): the amounts it was settled with. */
export const toSettledPaymentDto = (line: StatedPayment, payment: Payment): SettledPaymentDto => ({
  payment_id: line.id,
  external_reference: payment.externalReference,
  method: payment.method,
  channel_code: payment.channelCode,
  paid_at: line.paidAt,
  notional_minor: line.notionalMinor,
  xendit_fee_minor: line.providerFeeMinor,
  hexolus_markup_minor: line.markupMinor,
  client_net_minor: line.netMinor,
})
