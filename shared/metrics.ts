import type { LogCode } from './log.ts'

export const METRIC_NAMESPACE = 'PaymentGateway'

type MetricSpec = {
  readonly unit: 'Count' | 'Milliseconds' | 'None'
  /** CloudWatch counts each set as its own metric. Every metric also has the stage. */
  readonly dimensionSets: readonly (readonly string[])[]
}

/** A log line has one directive for all metrics that share this value. */
const OVERALL = [[]] as const
const COUNT = { unit: 'Count', dimensionSets: OVERALL } as const
const DURATION = { unit: 'Milliseconds', dimensionSets: OVERALL } as const
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
  TimeToAnnounce: DURATION,
  /** Attempts by outcome: succeeded, failed (retried), abandoned (the last attempt), skipped. */
  DeliveryAttempts: { unit: 'Count', dimensionSets: [['outcome']] },
  /** Runs of due work, one a minute. Without runs, lost work is not repaired. */
  DueWorkRuns: COUNT,
  /** An expiry without an answer for an hour counts too. */
  DueWorkFailures: COUNT,
  /**
   * The delay of the oldest overdue item of each kind, every minute, and of each delivery that is
   * sent again. The delay grows with a backlog.
   */
  AlertsLate: DURATION,
  DeliveriesLate: DURATION,
  PaymentChecksLate: DURATION,
  /** Deliveries whose message was lost, repaired by due work. */
  DeliveriesRepaired: COUNT,
  SuspenseItems: { unit: 'Count', dimensionSets: [['kind'], ['kind', 'cause']] },
  AlertFailures: COUNT,
  /** Retries of writes that conflicted with another transaction, and writes that gave up. */
  ConflictRetries: COUNT,
  ConflictsLost: COUNT,
  ProviderLatency: { unit: 'Milliseconds', dimensionSets: BY_OPERATION },
  /** 1 for a failed call, else 0: the average is the error rate. A refused payment counts as 0. */
  ProviderErrors: { unit: 'Count', dimensionSets: BY_OPERATION },
  /** Calls that the provider refused because of our key or our request; a retry does not help. */
  CallsRefused: COUNT,
  CallbacksRefused: COUNT,
  Settlements: { unit: 'Count', dimensionSets: BY_TRIGGER },
  /** IDR, net. */
  SettlementAmount: { unit: 'None', dimensionSets: BY_TRIGGER },
  SweepRuns: COUNT,
  SweptClients: COUNT,
  SyncRuns: COUNT,
  /** The age of the newest provider rows that a run has read. */
  SyncLag: DURATION,
  /** Runs that stopped early because of time, quota or a missing answer. */
  SyncsIncomplete: COUNT,
  /** By what was audited: `client`, or `gateway`. */
  AuditsCompleted: { unit: 'Count', dimensionSets: [['audit_of']] },
  AuditImbalances: COUNT,
  /** Queue messages that a worker could not finish; SQS delivers them again. */
  FailedMessages: { unit: 'Count', dimensionSets: [['function']] },
  /** Requests answered with 5xx by our own envelope. */
  RequestFailures: COUNT,
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
  'delivery.overdue': { DeliveriesLate: 'overdue_ms' },
  'due_work.completed': {
    DueWorkRuns: 1,
    AlertsLate: 'alert_late_ms',
    DeliveriesLate: 'delivery_late_ms',
    PaymentChecksLate: 'payment_late_ms',
  },
  'payment.check_failed': { DueWorkFailures: 'failed' },
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
