import type { Payment } from './payment.ts'

/** What a log line says about a payment: ids and channel, nothing of its customer. The metrics of payments read it. */
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
