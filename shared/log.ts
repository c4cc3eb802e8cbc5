/** The closed set of log codes: one line per outcome, with ids. Never bodies, headers, keys, secrets, names or phones. */
export type LogCode =
  | 'request.completed'
  | 'request.failed'
  | 'payment.created'
  | 'payment.create_replayed'
  | 'payment.create_failed'
  | 'payment.create_refused'
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
  | 'event.fanned_out'
  | 'event.fan_out_failed'
  | 'delivery.succeeded'
  | 'delivery.failed'
  | 'delivery.abandoned'
  | 'delivery.skipped'
  | 'delivery.dropped'
  | 'delivery.requeued'
  | 'alert.published'
  | 'alert.failed'
  | 'due_work.completed'
  | 'sweep.completed'
  | 'settlement.recorded'
  | 'settlement.waiting'
  | 'settlement.summing'
  | 'settlement.without_bank'
  | 'settlement.closed'
  | 'payouts.counted'
  | 'payouts.not_counted'
  | 'sync.completed'
  | 'sync.row_failed'
  | 'write.contended'
  | 'message.failed'
  | 'invocation.failed'
  | 'operator.action'
  | 'operator.refused'

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export type Log = {
  info(code: LogCode, fields?: LogFields): void
  warn(code: LogCode, fields?: LogFields): void
  /** `cause` is logged by class name and stack only: messages of foreign errors may quote data. */
  error(code: LogCode, fields?: LogFields, cause?: unknown): void
}
