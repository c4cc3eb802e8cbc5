/**
 * List prices in US dollars, without free tiers: of us-east-1, collected in November 2026 from AWS's price pages and
 * from reports that quote them. Jakarta (ap-southeast-3) is dearer for most services and was not read: put its prices
 * here before a budget depends on them. Every figure in docs/operations.md follows from this file.
 */
export const PRICES = {
  region: 'us-east-1',
  readOn: '2026-11-20',
  dynamodbWriteMillion: 0.625,
  dynamodbReadMillion: 0.125,
  dynamodbStorageGbMonth: 0.25,
  dynamodbRecoveryGbMonth: 0.2,
  lambdaRequestMillion: 0.2,
  /** ARM. */
  lambdaGbSecond: 0.0000133334,
  httpApiRequestMillion: 1,
  sqsRequestMillion: 0.4,
  /** On top, for a message with a group on a standard queue (fair queues). */
  sqsFairMillion: 0.1,
  secretMonth: 0.4,
  secretCallMillion: 5,
  logGb: 0.5,
  metricMonth: 0.3,
  alarmMonth: 0.1,
  compositeAlarmMonth: 0.5,
  dashboardMonth: 3,
  snsEmailMillion: 20,
  kmsKeyMonth: 1,
  kmsRequestMillion: 3,
  natHour: 0.045,
  natGb: 0.045,
  publicAddressHour: 0.005,
  wafAclMonth: 5,
  wafRuleMonth: 1,
  wafRequestMillion: 0.6,
  cloudFrontRequestMillion: 1,
  hostedZoneMonth: 0.5,
} as const
