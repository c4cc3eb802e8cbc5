import type { LogCode } from './log.ts'

export const METRIC_NAMESPACE = 'PaymentGateway'

export type MetricUnit = 'Count' | 'Milliseconds' | 'None'

type MetricSpec = {
  readonly unit: MetricUnit
  /** Each set of dimensions is a metric of its own to CloudWatch, besides the stage that all of them have. */
  readonly dimensionSets: readonly (readonly string[])[]
}

const OVERALL = [[]] as const satisfies MetricSpec['dimensionSets']

/** Every metric of the gateway. What an alarm or the dashboard watches is named here or does not exist. */
export const METRICS = {
  /**
   * Payments that reached an outcome: created, create_failed, create_refused (by the provider, for what this payment is),
   * succeeded, failed, expired, cancelled.
   */
  Payments: { unit: 'Count', dimensionSets: [['outcome'], ['method', 'channel', 'outcome']] },
  /** Successes by where we heard of them: callback, due_work, sync, operator, cancel, create. */
  SuccessHeard: { unit: 'Count', dimensionSets: [['source']] },
  /** From the moment a payment was paid to the merchant's 2xx. */
  TimeToAnnounce: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Attempts by outcome: succeeded, failed (tried again), abandoned (the last one), skipped. */
  DeliveryAttempts: { unit: 'Count', dimensionSets: [['outcome']] },
  /** Runs of the minute's check; none means that nothing looks after what was lost. */
  DueWorkRuns: { unit: 'Count', dimensionSets: OVERALL },
  DueWorkFailures: { unit: 'Count', dimensionSets: OVERALL },
  /** How long the oldest item of each kind is overdue, each minute: a backlog that grows grows here. */
  AlertsLate: { unit: 'Milliseconds', dimensionSets: OVERALL },
  DeliveriesLate: { unit: 'Milliseconds', dimensionSets: OVERALL },
  PaymentChecksLate: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Deliveries whose message was lost, repaired by due work. */
  DeliveriesRepaired: { unit: 'Count', dimensionSets: OVERALL },
  /** Money that may not be credited, and what the books cannot explain. */
  SuspenseItems: { unit: 'Count', dimensionSets: [['kind'], ['kind', 'cause']] },
  AlertFailures: { unit: 'Count', dimensionSets: OVERALL },
  /** Writes repeated because another transaction held the item, and those that gave up. */
  ConflictRetries: { unit: 'Count', dimensionSets: OVERALL },
  ConflictsLost: { unit: 'Count', dimensionSets: OVERALL },
  ProviderLatency: { unit: 'Milliseconds', dimensionSets: [['operation']] },
  /**
   * 1 for a call that went wrong, 0 for one that did not: its average is the share of errors. A refusal that is about one
   * payment is an answer, one that is about our account is an error.
   */
  ProviderErrors: { unit: 'Count', dimensionSets: [['operation']] },
  /** Calls the provider refused for how we asked: our key or our request, which no repetition mends. */
  CallsRefused: { unit: 'Count', dimensionSets: OVERALL },
  CallbacksRefused: { unit: 'Count', dimensionSets: OVERALL },
  Settlements: { unit: 'Count', dimensionSets: [['triggered_by']] },
  /** IDR, net. */
  SettlementAmount: { unit: 'None', dimensionSets: [['triggered_by']] },
  SweepRuns: { unit: 'Count', dimensionSets: OVERALL },
  /** Clients that a sweep put on the queue. */
  SweptClients: { unit: 'Count', dimensionSets: OVERALL },
  SyncRuns: { unit: 'Count', dimensionSets: OVERALL },
  /** How long ago the provider had booked what a run read last. */
  SyncLag: { unit: 'Milliseconds', dimensionSets: OVERALL },
  /** Runs that could not read on: for want of time, of quota, or of an answer. */
  SyncsIncomplete: { unit: 'Count', dimensionSets: OVERALL },
  /** Clients whose books do not add up, as the daily audit found. */
  AuditImbalances: { unit: 'Count', dimensionSets: OVERALL },
  /** Queue messages that a worker could not finish and will meet again. */
  FailedMessages: { unit: 'Count', dimensionSets: [['function']] },
  /** Requests answered with 5xx by our own envelope. */
  RequestFailures: { unit: 'Count', dimensionSets: OVERALL },
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof METRICS

type SetOf<Name extends MetricName> = (typeof METRICS)[Name]['dimensionSets'][number]

/** Taken one set at a time, while `All` stays the whole of them: what only other sets have must not be given. */
type OneOf<Set extends readonly string[], All extends readonly string[] = Set> = Set extends readonly []
  ? Readonly<Record<string, never>>
  : Set extends readonly string[]
    ? { readonly [name in Set[number]]: string } & { readonly [name in Exclude<All[number], Set[number]>]?: never }
    : never

/** The dimensions of one of a metric's sets, all of them and no others: anything else would be a metric of nobody. */
export type DimensionsOf<Name extends MetricName> = OneOf<SetOf<Name>>

/** A metric taken from a log line: 1, or the number in one of its fields; none when the field is missing. */
export type Measured = {
  readonly metric: MetricName
  readonly value: 1 | 0 | { readonly field: string }
}

export type LogMetrics = {
  readonly measured: readonly Measured[]
  /** Dimensions that the line's code says; all others are fields of the line. */
  readonly fixed?: Readonly<Record<string, string>>
}

const one = (metric: MetricName): Measured => ({ metric, value: 1 })
const fieldOf = (metric: MetricName, field: string): Measured => ({ metric, value: { field } })

const payments = (outcome: string): LogMetrics => ({ measured: [one('Payments')], fixed: { outcome } })
const attempts = (outcome: string): LogMetrics => ({ measured: [one('DeliveryAttempts')], fixed: { outcome } })

/**
 * Which log lines are measured, and what. An outcome is written down once, as a log line, and its metric rides on that
 * line (design: one line per outcome), so that neither can be there without the other.
 */
export const LOG_METRICS: Readonly<Partial<Record<LogCode, readonly LogMetrics[]>>> = {
  'payment.created': [payments('created')],
  'payment.create_failed': [payments('create_failed')],
  'payment.create_refused': [payments('create_refused')],
  'payment.succeeded': [payments('succeeded'), { measured: [one('SuccessHeard')] }],
  'payment.failed': [payments('failed')],
  'payment.expired': [payments('expired')],
  'payment.cancelled': [payments('cancelled')],
  'delivery.succeeded': [attempts('succeeded'), { measured: [fieldOf('TimeToAnnounce', 'announced_ms')] }],
  'delivery.failed': [attempts('failed')],
  'delivery.abandoned': [attempts('abandoned')],
  'delivery.skipped': [attempts('skipped')],
  'due_work.completed': [
    {
      measured: [
        one('DueWorkRuns'),
        fieldOf('AlertsLate', 'alert_late_ms'),
        fieldOf('DeliveriesLate', 'delivery_late_ms'),
        fieldOf('PaymentChecksLate', 'payment_late_ms'),
      ],
    },
  ],
  'due_work.drained': [
    {
      measured: [fieldOf('DueWorkFailures', 'failed'), fieldOf('DeliveriesRepaired', 'delivery')],
    },
  ],
  'suspense.recorded': [{ measured: [one('SuspenseItems')] }],
  'alert.failed': [{ measured: [one('AlertFailures')] }],
  'write.contended': [{ measured: [fieldOf('ConflictRetries', 'retries'), fieldOf('ConflictsLost', 'gave_up')] }],
  'provider.called': [{ measured: [fieldOf('ProviderLatency', 'call_ms'), { metric: 'ProviderErrors', value: 0 }] }],
  'provider.call_failed': [{ measured: [fieldOf('ProviderLatency', 'call_ms'), fieldOf('ProviderErrors', 'trouble')] }],
  'provider.call_refused': [
    { measured: [fieldOf('ProviderLatency', 'call_ms'), fieldOf('ProviderErrors', 'trouble')] },
    { measured: [one('CallsRefused')] },
  ],
  'callback.refused': [{ measured: [one('CallbacksRefused')] }],
  'settlement.recorded': [{ measured: [one('Settlements'), fieldOf('SettlementAmount', 'net_minor')] }],
  'sweep.completed': [{ measured: [one('SweepRuns'), fieldOf('SweptClients', 'clients')] }],
  'sync.completed': [
    { measured: [one('SyncRuns'), fieldOf('SyncsIncomplete', 'incomplete'), fieldOf('SyncLag', 'lag_ms')] },
  ],
  'audit.imbalance': [{ measured: [one('AuditImbalances')] }],
  'message.failed': [{ measured: [one('FailedMessages')] }],
  'request.failed': [{ measured: [one('RequestFailures')] }],
}
