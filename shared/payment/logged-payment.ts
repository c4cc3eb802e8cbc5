import type { Payment } from './payment.ts'

/** A payment's fields for log lines: ids and channel, nothing about its customer. Payment metrics read them. */
export const loggedPayment = ({
  paymentId,
  clientId,
  method,
  channelCode,
}: Pick<Payment, 'paymentId' | 'clientId' | 'method' | 'channelCode'>) => ({
  payment_id: paymentId,
  client_id: clientId,
  method,
  channel: channelCode,
})
