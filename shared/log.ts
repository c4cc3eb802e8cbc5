/**
 * The closed set of log codes: one line per outcome, with ids. Never bodies, headers, keys,
 * secrets, names or phones.
 */
export type LogCode =
  | 'request.completed'
  | 'request.failed'
  | 'payment.created'
  | 'payment.create_failed'
  | 'payment.create_refused'
  | 'payment.create_not_activated'
  | 'payment.create_taken_over'
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.expired'
  | 'payment.cancelled'
  | 'payment.capture_remembered'
  | 'payment.check_failed'
  | 'provider.called'
  | 'provider.call_failed'
  | 'provider.call_refused'
  | 'provider.orphan_cancelled'
  | 'callback.refused'
  | 'callback.ignored'
  | 'callback.deferred'
  | 'suspense.recorded'
  | 'delivery.succeeded'
  | 'delivery.failed'
  | 'delivery.abandoned'
  | 'delivery.skipped'
  | 'delivery.dropped'
  | 'delivery.requeued'
  | 'delivery.not_sent'
  | 'delivery.overdue'
  | 'delivery.redelivered'
  | 'endpoint.slow'
  | 'endpoint.answers_again'
  | 'endpoint.not_marked'
  | 'alert.published'
  | 'alert.failed'
  | 'due_work.completed'
  | 'due_work.drained'
  | 'sweep.completed'
  | 'settlement.recorded'
  | 'settlement.waiting'
  | 'settlement.summing'
  | 'settlement.without_bank'
  | 'settlement.closed'
  | 'audits.started'
  | 'audit.completed'
  | 'balance.compared'
  | 'balance.waiting'
  | 'audit.imbalance'
  | 'payout.after_difference'
  | 'payout.changed'
  | 'payout.line_failed'
  | 'client.access_changed'
  | 'client.bank_changed'
  | 'customer.erased'
  | 'settlement.unpaid'
  | 'sync.completed'
  | 'sync.row_failed'
  | 'sync.row_late'
  | 'row.unreadable'
  | 'write.contended'
  | 'message.failed'
  | 'invocation.failed'
  | 'operator.action'
  | 'operator.refused'

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export type Log = {
  info(code: LogCode, fields?: LogFields): void
  warn(code: LogCode, fields?: LogFields): void
  /**
   * Messages of foreign errors may quote data, so only class name and stack of `cause` are logged.
   */
  error(code: LogCode, fields?: LogFields, cause?: unknown): void
}

type LoggedPayment = {
  readonly paymentId: string
  readonly clientId: string
  readonly method: string
  readonly channelCode?: string | undefined
}

/**
 * Ids and channel, nothing about the customer. Payment metrics have the dimension `channel`, so it
 * names only channels of our table (`isListed`): a merchant may send any wallet's code.
 */
export function loggedPayment(
  { paymentId, clientId, method, channelCode }: LoggedPayment,
  isListed: boolean,
) {
  const channel = isListed
    ? { channel: channelCode }
    : { channel: 'other', channel_code: channelCode }
  return { payment_id: paymentId, client_id: clientId, method, ...channel }
}
