export const PRICED = { region: 'us-east-1', readOn: '2026-11-20' } as const

/**
 * List prices in US dollars, without free tiers, collected in November 2026 from AWS's price pages
 * and from reports that quote them. Jakarta is dearer for most services and was not read: put its
 * prices here before a budget depends on them. The front's prices are the same in all regions.
 *
 * A price is that of one unit, or of a million if its name ends in `Million`. A report row takes
 * prices by their first word.
 */
export const PRICES = {
  dynamodbWriteMillion: 0.625,
  dynamodbReadMillion: 0.125,
  storageGbMonth: 0.25,
  storageRecoveryGbMonth: 0.2,
  lambdaRequestMillion: 0.2,
  /** ARM. */
  lambdaGbSecond: 0.0000133334,
  httpApiRequestMillion: 1,
  sqsRequestMillion: 0.4,
  /** The surcharge of a message with a group on a standard queue (fair queues). */
  sqsFairMillion: 0.1,
  /** A copy in another region is a secret too (aws.amazon.com/secrets-manager/pricing). */
  secretMonth: 0.4,
  secretCallMillion: 5,
  logGb: 0.5,
  /**
   * A metric with one set of dimensions, billed for the hours in which it is written
   * (docs.aws.amazon.com: cloudwatch_billing).
   */
  metricMonth: 0.3,
  /**
   * The price of each metric that an alarm refers to, evaluated every minute at most (docs:
   * cloudwatch_billing).
   */
  alarmMetricMonth: 0.1,
  compositeMonth: 0.5,
  dashboardMonth: 3,
  snsEmailMillion: 20,
  /** 0.10 for 100,000 (aws.amazon.com/cloudtrail/pricing). */
  cloudTrailDataEventMillion: 1,
  /**
   * A key costs as much again after its first and after its second rotation
   * (aws.amazon.com/kms/pricing).
   */
  kmsKeyMonth: 1,
  kmsRequestMillion: 3,
  natHour: 0.045,
  natAddressHour: 0.005,
  natGb: 0.045,
  /** A managed group counts as one rule (aws.amazon.com/waf/pricing). */
  wafAclMonth: 5,
  wafRuleMonth: 1,
  frontWafRequestMillion: 0.6,
  frontRequestMillion: 1,
  /** By the caller's edge: Indonesia. */
  frontGb: 0.12,
  /** AWS Backup of a table, whole each time, and its way to another region: not read again. */
  backupGbMonth: 0.1,
  backupCopyGb: 0.02,
  hostedZoneMonth: 0.5,
} as const

export type Prices = Readonly<Record<keyof typeof PRICES, number>>
