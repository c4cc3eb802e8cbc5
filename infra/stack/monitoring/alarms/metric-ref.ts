import { METRIC_NAMESPACE, type MetricName } from '../../../../shared/metrics.ts'

type Dimensions = Readonly<Record<string, string>>

/** `TC(:60000)`: how many values are at most 60,000. */
type Statistic =
  | 'Sum'
  | 'Average'
  | 'Maximum'
  | 'Minimum'
  | 'SampleCount'
  | 'p50'
  | 'p99'
  | `TC(:${number})`

export type MetricRef = {
  readonly namespace: string
  readonly name: string
  readonly dimensions: Dimensions
  readonly statistic: Statistic
}

/** Each metric has the name that the formula uses. */
export type Formula = {
  readonly formula: string
  readonly metrics: Readonly<Record<string, MetricRef>>
}

export type Measure = MetricRef | Formula

/** The dimension of every metric of ours, so that stages of one account never add up. */
export function serviceOf(stage: string) {
  return `gateway-${stage}`
}

/**
 * Our own metrics. With other dimensions than one set of the catalogue a metric does not exist; a
 * test compares them.
 */
export function ourMetrics(stage: string) {
  return (name: MetricName, dimensions: Dimensions, statistic: Statistic): MetricRef => ({
    namespace: METRIC_NAMESPACE,
    name,
    dimensions: { service: serviceOf(stage), ...dimensions },
    statistic,
  })
}

/** No dimensions: the metric of the whole stage. */
export const OVERALL = {} as const

/**
 * Metrics that AWS publishes, by the names of its documentation. A test compares each used metric
 * with the template.
 */
export const AWS_METRICS = {
  // docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
  'AWS/ApiGateway': { '5xx': ['ApiId'], '4xx': ['ApiId'], Count: ['ApiId'], Latency: ['ApiId'] },
  // docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
  'AWS/Lambda': {
    Errors: ['FunctionName'],
    Throttles: ['FunctionName'],
    Invocations: ['FunctionName'],
    Duration: ['FunctionName'],
    UnreservedConcurrentExecutions: [],
  },
  // docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
  'AWS/SQS': {
    ApproximateAgeOfOldestMessage: ['QueueName'],
    ApproximateNumberOfMessagesVisible: ['QueueName'],
    NumberOfMessagesDeleted: ['QueueName'],
  },
  // docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
  'AWS/DynamoDB': {
    ReadThrottleEvents: ['TableName', 'GlobalSecondaryIndexName'],
    WriteThrottleEvents: ['TableName', 'GlobalSecondaryIndexName'],
    ConsumedReadCapacityUnits: ['TableName', 'GlobalSecondaryIndexName'],
    ConsumedWriteCapacityUnits: ['TableName', 'GlobalSecondaryIndexName'],
    SuccessfulRequestLatency: ['TableName', 'Operation'],
  },
  // docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
  'AWS/Events': { FailedInvocations: ['RuleName'], TriggeredRules: ['RuleName'] },
  // docs.aws.amazon.com/aws-backup/latest/devguide/cloudwatch.html
  'AWS/Backup': { NumberOfCopyJobsCompleted: ['BackupVaultName'] },
  // docs.aws.amazon.com/acm/latest/userguide/cloudwatch-metrics.html
  'AWS/CertificateManager': { DaysToExpiry: ['CertificateArn'] },
  // docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/programming-cloudwatch-metrics.html
  'AWS/CloudFront': {
    Requests: ['DistributionId', 'Region'],
    '5xxErrorRate': ['DistributionId', 'Region'],
  },
  // docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
  'AWS/WAFV2': { AllowedRequests: ['WebACL', 'Rule'], BlockedRequests: ['WebACL', 'Rule'] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

/**
 * Requests that API Gateway refused with 429 before a function ran: on all routes, and creates.
 * Metric filters of the access log write these metrics, whose names have the stage.
 */
export type Throttled = 'throttled' | 'throttled-creates'
export const ACCESS_LOG_NAMESPACE = 'PaymentGateway/AccessLog'

export function throttledMetric(stage: string, what: Throttled): MetricRef {
  const name = `${serviceOf(stage)}-${what}`
  return { namespace: ACCESS_LOG_NAMESPACE, name, dimensions: {}, statistic: 'Sum' }
}

type AwsMetrics = typeof AWS_METRICS

export function awsMetric<const Namespace extends keyof AwsMetrics>(
  namespace: Namespace,
  name: keyof AwsMetrics[Namespace] & string,
  dimensions: Dimensions,
  statistic: Statistic,
): MetricRef {
  return { namespace, name, dimensions, statistic }
}

/** A metric without data counts as zero. */
export function sumOf(metrics: readonly MetricRef[]): Formula {
  const byId = Object.fromEntries(metrics.map((metric, at) => [`m${at}`, metric]))
  return { formula: Object.keys(byId).map(orZero).join(' + '), metrics: byId }
}

/** A period without a value is zero: nothing happened. */
export function orZero(id: string) {
  return `FILL(${id}, 0)`
}

/**
 * For a metric whose missing data must count. Otherwise CloudWatch looks further back than the
 * alarm's periods, so the alarm goes off late or stays on; an alarm on DynamoDB's metrics even
 * keeps its state, whatever its setting for missing data.
 */
export function withoutGaps(metric: MetricRef): Formula {
  return sumOf([metric])
}

/** Conditions use `orZero` for each metric, because a missing value makes the sum missing. */
export function countOf(conditions: readonly string[]) {
  return conditions.map((condition) => `IF(${condition}, 1, 0)`).join(' + ')
}
