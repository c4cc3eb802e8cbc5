/** The closed set of log codes: one line per outcome, with ids. Never bodies, headers, keys, secrets, names or phones. */
export type LogCode =
  | `request.${'completed' | 'failed'}`
  | `payment.${'created' | 'create_failed' | 'create_refused' | 'create_taken_over' | 'succeeded' | 'failed'}`
  | `payment.${'expired' | 'cancelled' | 'capture_remembered' | 'check_failed'}`
  | `provider.${'called' | 'call_failed' | 'call_refused' | 'orphan_cancelled'}`
  | `callback.${'refused' | 'ignored' | 'deferred'}`
  | 'suspense.recorded'
  | `delivery.${'succeeded' | 'failed' | 'abandoned' | 'skipped' | 'dropped' | 'requeued' | 'not_sent'}`
  | 'delivery.redelivered'
  | `endpoint.${'slow' | 'answers_again' | 'not_marked'}`
  | `alert.${'published' | 'failed'}`
  | `due_work.${'completed' | 'drained'}`
  | 'sweep.completed'
  | `settlement.${'recorded' | 'waiting' | 'summing' | 'without_bank' | 'closed' | 'unpaid'}`
  | 'audits.started'
  | `audit.${'completed' | 'imbalance'}`
  | 'client.bank_changed'
  | 'customer.erased'
  | `sync.${'completed' | 'row_failed'}`
  | 'write.contended'
  | 'message.failed'
  | 'invocation.failed'
  | `operator.${'action' | 'refused'}`

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export type Log = {
  info(code: LogCode, fields?: LogFields): void
  warn(code: LogCode, fields?: LogFields): void
  /** Only the class name and stack of `cause` are logged, because messages of foreign errors may quote data. */
  error(code: LogCode, fields?: LogFields, cause?: unknown): void
}

type LoggedPayment = {
  readonly paymentId: string
  readonly clientId: string
  readonly method: string
  readonly channelCode?: string | undefined
}

/** A payment's fields for log lines: ids and channel, nothing about its customer. Payment metrics read them. */
export const loggedPayment = ({ paymentId, clientId, method, channelCode }: LoggedPayment) => ({
  payment_id: paymentId,
  client_id: clientId,
  method,
  channel: channelCode,
})
