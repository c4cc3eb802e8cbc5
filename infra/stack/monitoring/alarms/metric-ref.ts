import { METRIC_NAMESPACE, type METRICS, type MetricName } from '../../../../shared/metrics.ts'

type SetOf<Name extends MetricName> = (typeof METRICS)[Name]['dimensionSets'][number]

/**
 * Distributes over the sets. `All` stays the union, so that other sets' dimensions are forbidden.
 */
type OneOf<
  Set extends readonly string[],
  All extends readonly string[] = Set,
> = Set extends readonly []
  ? Readonly<Record<string, never>>
  : Set extends readonly string[]
    ? { readonly [name in Set[number]]: string } & {
        readonly [name in Exclude<All[number], Set[number]>]?: never
      }
    : never

/** One of a metric's sets, exactly: with any other combination the metric does not exist. */
type DimensionsOf<Name extends MetricName> = OneOf<SetOf<Name>>

/** `TC(:60000)`: how many values are at most 60,000. */
export type Statistic =
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
  readonly dimensions: Readonly<Record<string, string>>
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
 * Our own metrics, by their names in the catalogue and one of their dimension sets. A wrong name
 * does not compile.
 */
export function ourMetrics(stage: string) {
  return <const Name extends MetricName>(
    name: Name,
    dimensions: DimensionsOf<Name>,
    statistic: Statistic,
  ): MetricRef => ({
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
type DimensionOf<Names> = Names extends readonly (infer Dimension extends string)[]
  ? Dimension
  : never

/** An index has one dimension more than its table, so dimensions are optional. */
export function awsMetric<
  const Namespace extends keyof AwsMetrics,
  const Name extends keyof AwsMetrics[Namespace] & string,
>(
  namespace: Namespace,
  name: Name,
  dimensions: Readonly<Partial<Record<DimensionOf<AwsMetrics[Namespace][Name]>, string>>>,
  statistic: Statistic,
): MetricRef {
  const defined = Object.entries<string | undefined>(dimensions).flatMap(([dimension, value]) =>
    value === undefined ? [] : [[dimension, value]],
  )
  return { namespace, name, dimensions: Object.fromEntries(defined), statistic }
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
