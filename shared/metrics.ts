import type { LogCode } from './log.ts'

export const METRIC_NAMESPACE = 'PaymentGateway'

type MetricSpec = {
  readonly unit: 'Count' | 'Milliseconds' | 'None'
  /** CloudWatch counts each set as its own metric. Every metric also has the stage. */
  readonly dimensionSets: readonly (readonly string[])[]
}

const OVERALL = [[]] as const satisfies MetricSpec['dimensionSets']
const BY_OPERATION = [['operation']] as const
const BY_TRIGGER = [['triggered_by']] as const

/** Alarms and the dashboard use only these metrics. */
export const METRICS = {
  /**
   * `create_refused`: the provider refused the payment itself (422). `create_not_activated`: its
   * channel is not activated, and operators were told (500). `channel` is of our table, or `other`.
   */
  Payments: { unit: 'Count', dimensionSets: [['outcome'], ['method', 'channel', 'outcome']] },
  /** Successes by the source of the news: callback, due_work, sync, operator, cancel, create. */
  SuccessHeard: { unit: 'Count', dimensionSets: [['source']] },
  /** From `paid_at` to the merchant's 2xx. */
  TimeToAnnounce: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Attempts by outcome: succeeded, failed (retried), abandoned (the last attempt), skipped. */
  DeliveryAttempts: { unit: 'Count', dimensionSets: [['outcome']] },
  /** Runs of due work, one a minute. Without runs, lost work is not repaired. */
  DueWorkRuns: { unit: 'Count', dimensionSets: OVERALL },
  DueWorkFailures: { unit: 'Count', dimensionSets: OVERALL },
  /**
   * The delay of the oldest overdue item of each kind, every minute. The delay grows with a
   * backlog.
   */
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
  /** 1 for a failed call, else 0: the average is the error rate. A refused payment counts as 0. */
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
  /** By what was audited: `client`, or `gateway`. */
  AuditsCompleted: { unit: 'Count', dimensionSets: [['audit_of']] },
  AuditImbalances: { unit: 'Count', dimensionSets: OVERALL },
  /** Queue messages that a worker could not finish; SQS delivers them again. */
  FailedMessages: { unit: 'Count', dimensionSets: [['function']] },
  /** Requests answered with 5xx by our own envelope. */
  RequestFailures: { unit: 'Count', dimensionSets: OVERALL },
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof METRICS

export function isMetric(name: string): name is MetricName {
  return name in METRICS
}

/** A fixed value, or the field with the number. A line without that number has no metric. */
type MetricValues = Readonly<Partial<Record<MetricName, 1 | 0 | string>>>

/**
 * A metric is part of its log line. Its dimension `outcome` is the second part of the code; all
 * other dimensions are fields of the line.
 */
export const LOG_METRICS: Readonly<Partial<Record<LogCode, MetricValues>>> = {
  'payment.created': { Payments: 1 },
  'payment.create_failed': { Payments: 1 },
  'payment.create_refused': { Payments: 1 },
  'payment.create_not_activated': { Payments: 1 },
  'payment.succeeded': { Payments: 1, SuccessHeard: 1 },
  'payment.failed': { Payments: 1 },
  'payment.expired': { Payments: 1 },
  'payment.cancelled': { Payments: 1 },
  'delivery.succeeded': { DeliveryAttempts: 1, TimeToAnnounce: 'announced_ms' },
  'delivery.failed': { DeliveryAttempts: 1 },
  'delivery.abandoned': { DeliveryAttempts: 1 },
  'delivery.skipped': { DeliveryAttempts: 1 },
  'due_work.completed': {
    DueWorkRuns: 1,
    AlertsLate: 'alert_late_ms',
    DeliveriesLate: 'delivery_late_ms',
    PaymentChecksLate: 'payment_late_ms',
  },
  'due_work.drained': { DueWorkFailures: 'failed', DeliveriesRepaired: 'delivery' },
  'suspense.recorded': { SuspenseItems: 1 },
  'alert.failed': { AlertFailures: 1 },
  'write.contended': { ConflictRetries: 'retries', ConflictsLost: 'gave_up' },
  'provider.called': { ProviderLatency: 'call_ms', ProviderErrors: 0 },
  'provider.call_failed': { ProviderLatency: 'call_ms', ProviderErrors: 'trouble' },
  'provider.call_refused': {
    ProviderLatency: 'call_ms',
    ProviderErrors: 'trouble',
    CallsRefused: 1,
  },
  'callback.refused': { CallbacksRefused: 1 },
  'settlement.recorded': { Settlements: 1, SettlementAmount: 'net_minor' },
  'sweep.completed': { SweepRuns: 1, SweptClients: 'clients' },
  'sync.completed': { SyncRuns: 1, SyncsIncomplete: 'incomplete', SyncLag: 'lag_ms' },
  'audit.completed': { AuditsCompleted: 1 },
  'audit.imbalance': { AuditImbalances: 1 },
  'message.failed': { FailedMessages: 1 },
  'request.failed': { RequestFailures: 1 },
}
