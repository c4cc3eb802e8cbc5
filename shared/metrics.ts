import type { LogCode } from './log.ts'

export const METRIC_NAMESPACE = 'PaymentGateway'

type MetricSpec = {
  readonly unit: 'Count' | 'Milliseconds' | 'None'
  /** CloudWatch counts each set of dimensions as its own metric. Every metric also has the stage. */
  readonly dimensionSets: readonly (readonly string[])[]
}

const OVERALL = [[]] as const satisfies MetricSpec['dimensionSets']
const BY_OPERATION = [['operation']] as const
const BY_TRIGGER = [['triggered_by']] as const

/** Every metric of the gateway; alarms and the dashboard use only these. */
export const METRICS = {
  /** Payments by outcome. `create_refused`: the provider refused the payment itself, not our account. */
  Payments: { unit: 'Count', dimensionSets: [['outcome'], ['method', 'channel', 'outcome']] },
  /** Successes by the source of the news: callback, due_work, sync, operator, cancel, create. */
  SuccessHeard: { unit: 'Count', dimensionSets: [['source']] },
  /** From `paid_at` to the merchant's 2xx. */
  TimeToAnnounce: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Attempts by outcome: succeeded, failed (retried), abandoned (the last one), skipped. */
  DeliveryAttempts: { unit: 'Count', dimensionSets: [['outcome']] },
  /** Runs of due work, one a minute. Without runs, lost work is not repaired. */
  DueWorkRuns: { unit: 'Count', dimensionSets: OVERALL },
  DueWorkFailures: { unit: 'Count', dimensionSets: OVERALL },
  /** The delay of the oldest overdue item of each kind, every minute; it grows with a backlog. */
  AlertsLate: { unit: 'Milliseconds', dimensionSets: OVERALL },
  DeliveriesLate: { unit: 'Milliseconds', dimensionSets: OVERALL },
  PaymentChecksLate: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Deliveries whose message was lost, repaired by due work. */
  DeliveriesRepaired: { unit: 'Count', dimensionSets: OVERALL },
  SuspenseItems: { unit: 'Count', dimensionSets: [['kind'], ['kind', 'cause']] },
  AlertFailures: { unit: 'Count', dimensionSets: OVERALL },
  /** Retries of writes that conflicted with another transaction, and writes that gave up. */
  ConflictRetries: { unit: 'Count', dimensionSets: OVERALL },
  ConflictsLost: { unit: 'Count', dimensionSets: OVERALL },
  ProviderLatency: { unit: 'Milliseconds', dimensionSets: BY_OPERATION },
  /** 1 for a failed call, else 0, so that the average is the error rate. A refused payment is no failed call. */
  ProviderErrors: { unit: 'Count', dimensionSets: BY_OPERATION },
  /** Calls that the provider refused because of our key or our request; a retry does not help. */
  CallsRefused: { unit: 'Count', dimensionSets: OVERALL },
  CallbacksRefused: { unit: 'Count', dimensionSets: OVERALL },
  Settlements: { unit: 'Count', dimensionSets: BY_TRIGGER },
  /** IDR, net. */
  SettlementAmount: { unit: 'None', dimensionSets: BY_TRIGGER },
  SweepRuns: { unit: 'Count', dimensionSets: OVERALL },
  SweptClients: { unit: 'Count', dimensionSets: OVERALL },
  SyncRuns: { unit: 'Count', dimensionSets: OVERALL },
  /** The age of the newest provider rows that a run has read. */
  SyncLag: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Runs that stopped early because of time, quota or a missing answer. */
  SyncsIncomplete: { unit: 'Count', dimensionSets: OVERALL },
  AuditImbalances: { unit: 'Count', dimensionSets: OVERALL },
  /** Queue messages that a worker could not finish; SQS delivers them again. */
  FailedMessages: { unit: 'Count', dimensionSets: [['function']] },
  /** Requests answered with 5xx by our own envelope. */
  RequestFailures: { unit: 'Count', dimensionSets: OVERALL },
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof METRICS

/** A metric of a log line: a fixed value, or the number in a field; no metric if the field is missing. */
export type Measured = {
  readonly metric: MetricName
  readonly value: 1 | 0 | { readonly field: string }
  /** The log code is one outcome of the metric. All other dimensions are fields of the line. */
  readonly outcome?: string
}

const one = (metric: MetricName): Measured => ({ metric, value: 1 })
const fieldOf = (metric: MetricName, field: string): Measured => ({ metric, value: { field } })

const payments = (outcome: string): Measured => ({ ...one('Payments'), outcome })
const attempts = (outcome: string): Measured => ({ ...one('DeliveryAttempts'), outcome })

/** The metrics of each log code. A metric is part of its log line, so that neither exists without the other. */
export const LOG_METRICS: Readonly<Partial<Record<LogCode, readonly Measured[]>>> = {
  'payment.created': [payments('created')],
  'payment.create_failed': [payments('create_failed')],
  'payment.create_refused': [payments('create_refused')],
  'payment.succeeded': [payments('succeeded'), one('SuccessHeard')],
  'payment.failed': [payments('failed')],
  'payment.expired': [payments('expired')],
  'payment.cancelled': [payments('cancelled')],
  'delivery.succeeded': [attempts('succeeded'), fieldOf('TimeToAnnounce', 'announced_ms')],
  'delivery.failed': [attempts('failed')],
  'delivery.abandoned': [attempts('abandoned')],
  'delivery.skipped': [attempts('skipped')],
  'due_work.completed': [
    one('DueWorkRuns'),
    fieldOf('AlertsLate', 'alert_late_ms'),
    fieldOf('DeliveriesLate', 'delivery_late_ms'),
    fieldOf('PaymentChecksLate', 'payment_late_ms'),
  ],
  'due_work.drained': [fieldOf('DueWorkFailures', 'failed'), fieldOf('DeliveriesRepaired', 'delivery')],
  'suspense.recorded': [one('SuspenseItems')],
  'alert.failed': [one('AlertFailures')],
  'write.contended': [fieldOf('ConflictRetries', 'retries'), fieldOf('ConflictsLost', 'gave_up')],
  'provider.called': [fieldOf('ProviderLatency', 'call_ms'), { metric: 'ProviderErrors', value: 0 }],
  'provider.call_failed': [fieldOf('ProviderLatency', 'call_ms'), fieldOf('ProviderErrors', 'trouble')],
  'provider.call_refused': [
    fieldOf('ProviderLatency', 'call_ms'),
    fieldOf('ProviderErrors', 'trouble'),
    one('CallsRefused'),
  ],
  'callback.refused': [one('CallbacksRefused')],
  'settlement.recorded': [one('Settlements'), fieldOf('SettlementAmount', 'net_minor')],
  'sweep.completed': [one('SweepRuns'), fieldOf('SweptClients', 'clients')],
  'sync.completed': [one('SyncRuns'), fieldOf('SyncsIncomplete', 'incomplete'), fieldOf('SyncLag', 'lag_ms')],
  'audit.imbalance': [one('AuditImbalances')],
  'message.failed': [one('FailedMessages')],
  'request.failed': [one('RequestFailures')],
}
