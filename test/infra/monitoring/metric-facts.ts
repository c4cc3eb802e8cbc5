const SQS = 'AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html'
const LAMBDA = 'lambda/latest/dg/monitoring-metrics-types.html'
const DYNAMODB = 'amazondynamodb/latest/developerguide/metrics-dimensions.html'
const EMF =
  'AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html'

/**
 * What each kind of metric shows while nothing happens, and the page of docs.aws.amazon.com that
 * says so.
 */
export const WHILE_NOTHING_HAPPENS: readonly (readonly [
  metric: RegExp,
  shows: 'missing' | 'zero',
  source: string,
])[] = [
  [
    /^PaymentGateway\/AccessLog: /,
    'missing',
    'AmazonCloudWatch/latest/logs/MonitoringLogData.html: no default value',
  ],
  [/^PaymentGateway\S*: /, 'missing', `${EMF}: a line that is not written counts nothing`],
  [
    /^AWS\/ApiGateway: /,
    'missing',
    'apigateway/latest/developerguide/http-api-metrics.html: counted by request',
  ],
  [/^AWS\/Lambda: /, 'missing', `${LAMBDA}: written when an invocation ends`],
  [
    /^AWS\/SQS: .*-dead$/,
    'missing',
    `${SQS}: a queue without activity for six hours writes nothing`,
  ],
  [/^AWS\/SQS: /, 'zero', `${SQS}: a polled queue is active`],
  [/^AWS\/DynamoDB: \w+ThrottleEvents/, 'missing', `${DYNAMODB}: written for each refused event`],
  [/^AWS\/DynamoDB: /, 'missing', `${DYNAMODB}: written while units are consumed`],
  [
    /^AWS\/Events: /,
    'missing',
    'eventbridge/latest/userguide/eb-monitoring.html: only if not zero',
  ],
  [
    /^AWS\/CloudFront: /,
    'missing',
    'AmazonCloudFront/latest/DeveloperGuide/viewing-cloudfront-metrics.html: none without requests',
  ],
  [/^AWS\/WAFV2: /, 'missing', 'waf/latest/developerguide/waf-metrics.html: reported if not zero'],
  [
    /^AWS\/CertificateManager: /,
    'missing',
    'acm/latest/userguide/cloudwatch-metrics.html: ends with the certificate',
  ],
]
