import { type DeployedStage, hasAlarms } from '../../infra/stack/stage.ts'

type Reasons = Readonly<Record<string, readonly [where: RegExp, because: string]>>
export type Reason = readonly [rule: string, reason: Reasons[string]]

const ARN = 'arn:<AWS::Partition>'
const HERE = '<AWS::Region>:<AWS::AccountId>'
/**
 * Wildcards of roles and of people. Wildcards in policies of resources are reviewed in
 * test/infra/templates.
 */
const CANARY_ROLE = /^Canary\/Role\/Resource$/
const ALL_FUNCTIONS = /^(Functions\/[\w-]+|Release)\/Function\/Resource$/
const ALL_ROLES = /^(Functions\/[\w-]+|Canary|Release|WebhookEgress\/FlowLogs)\/Role\/Resource$/
const DEAD_LETTERS = /^Queues\/([\w-]+\/Dead|schedules)\/Queue\/Resource$/

const EVERYWHERE: Reasons = {
  'AwsSolutions-APIG4': [
    /^HttpApi\/[\w-]+\/Resource$/,
    'Each function authenticates by itself: an authorizer cannot answer in the envelope of ' +
      'spec section 7, and costs a second cold start.',
  ],
  'AwsSolutions-SMG4': [
    /^(Provider\/(Secret|Callback)|Origin\/Secret)\/Resource$/,
    'The provider makes its key and token, and CloudFront holds the origin secret: ' +
      'docs/operations.md, section 4.',
  ],
  'AwsSolutions-SQS3': [DEAD_LETTERS, 'It is a dead-letter queue itself.'],
  'Serverless-SQSRedrivePolicy': [
    DEAD_LETTERS,
    'It is a dead-letter queue: nothing reads it but an operator.',
  ],
  'Serverless-LambdaDLQ': [
    ALL_FUNCTIONS,
    'Only schedules start functions asynchronously, and those have a failure destination; the ' +
      'others are answered or read from a queue. CloudFormation waits for the proof of a ' +
      'release, and takes silence for a failure.',
  ],
  'Serverless-LambdaEventSourceMappingDestination': [
    /^EventSources\/[\w-]+\/Resource$/,
    'Messages of a queue are set aside by the queue itself, after so many receives.',
  ],
  'Serverless-LambdaTracing': [
    ALL_FUNCTIONS,
    'X-Ray’s SDK is 127 kB and 30 ms of every start, and an HTTP API takes no part in a trace.',
  ],
  [`AwsSolutions-IAM5[Resource::${ARN}:iam::<AWS::AccountId>:role/cdk-hnb659fds-*]`]: [
    /^Duties\/deploy\/Resource$/,
    'The roles that `cdk bootstrap` makes for deploying have account and region in their ' +
      'names; a front is in another region.',
  ],
  'PCI.DSS.321-IAMNoInlinePolicy': [
    ALL_ROLES,
    'A role and its one policy belong together and to nothing else: an inline policy cannot ' +
      'be shared, and is there when the role is.',
  ],
  'PCI.DSS.321-LambdaInsideVPC': [
    ALL_FUNCTIONS,
    'Nothing here is reached by network address: AWS’s own endpoints, the provider and ' +
      'merchants. The worker that calls strangers has a network of its own with `webhookEgress: ' +
      'nat`.',
  ],
}

const ON_CALL_RESOURCES = [
  '*',
  ...[
    '/aws/lambda/gateway-STAGE-*',
    '/aws/vendedlogs/*/gateway-STAGE*',
    'aws-waf-logs-gateway-STAGE*',
  ].map((group) => `${ARN}:logs:*:<AWS::AccountId>:log-group:${group}:*`),
  ...[
    'sqs:HERE:gateway-STAGE-*-dead',
    'lambda:HERE:function:gateway-STAGE-*',
    'lambda:HERE:event-source-mapping:*',
    'dynamodb:HERE:table/gateway-STAGE*',
  ].map((resource) => `${ARN}:${resource.replace('HERE', HERE)}`),
]

const ON_CALL: Reasons = Object.fromEntries(
  ON_CALL_RESOURCES.map((resource) => [
    `AwsSolutions-IAM5[Resource::${resource}]`,
    [
      /^Duties\/oncall\/Resource$/,
      'The person on call follows a runbook that is about every function, queue, schedule and ' +
        'log of the stage; AWS allows lists for all resources or for none.',
    ],
  ]),
)

const WITH_CANARIES: Reasons = {
  [`AwsSolutions-IAM5[Resource::${ARN}:lambda:${HERE}:function:gateway-STAGE-*]`]: [
    CANARY_ROLE,
    'CodeDeploy moves the aliases of the API’s functions, which are this stage’s; others of ' +
      'the stage have no alias.',
  ],
  [`AwsSolutions-IAM5[Resource::${ARN}:cloudwatch:${HERE}:alarm:*]`]: [
    CANARY_ROLE,
    'CodeDeploy reads alarms, and CloudWatch allows that for all of them or for none.',
  ],
}

const WITHOUT_KEY: Reasons = {
  'PCI.DSS.321-SNSEncryptedKMS': [
    /^Alerts\/Topic\/Resource$/,
    'Alerts carry ids and no personal data; `table.encryption: customer` encrypts them too.',
  ],
  'PCI.DSS.321-SecretsManagerUsingKMSKey': [
    /^Provider\/(Secret|Callback)\/Resource$/,
    'Encrypted with the key of AWS; `table.encryption: customer` uses the account’s own.',
  ],
  'PCI.DSS.321-CloudWatchLogGroupEncrypted': [
    /\/(Log|AccessLog)\/Resource$/,
    'Encrypted by CloudWatch; `table.encryption: customer` uses the account’s own key.',
  ],
}

const ITS_OWN_LOG =
  'Who reads or writes the bucket is no secret: its content is a log, and it cannot be changed.'
const OWN_COPY = 'What it says is who called, without payloads; S3 encrypts it.'
const TRAIL_BUCKET = /^InvocationTrail\/Bucket\/Resource$/
const TRAIL = /^InvocationTrail\/Trail\/Resource$/

const WITH_TRAIL: Reasons = {
  'AwsSolutions-S1': [TRAIL_BUCKET, ITS_OWN_LOG],
  'PCI.DSS.321-S3BucketLoggingEnabled': [TRAIL_BUCKET, ITS_OWN_LOG],
  'PCI.DSS.321-S3BucketReplicationEnabled': [
    TRAIL_BUCKET,
    'A region that is lost takes its operators’ calls with it.',
  ],
  'PCI.DSS.321-S3DefaultEncryptionKMS': [TRAIL_BUCKET, OWN_COPY],
  'PCI.DSS.321-CloudTrailEncryptionEnabled': [TRAIL, OWN_COPY],
  'PCI.DSS.321-CloudTrailCloudWatchLogsEnabled': [
    TRAIL,
    'A copy that could be deleted proves nothing.',
  ],
}

const WITH_RECIPIENTS: Reasons = {
  'Serverless-SNSRedrivePolicy': [
    /^(Alerts|Pages|front-\w+)\/Topic\/[^/]+\/Resource$/,
    'What a mail or a pager missed is still on: alarms keep their state, and due work repeats ' +
      'alerts.',
  ],
}

const WITH_COPIES: Reasons = {
  [`AwsSolutions-IAM4[Policy::${ARN}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]`]:
    [
      /^Copies\/Plan\/Table\/Role\/Resource$/,
      'AWS keeps the rights that its backups need in this policy, and changes them.',
    ],
}

const WITH_PAGES: Reasons = {
  'PCI.DSS.321-SNSEncryptedKMS': [
    /^(Pages|front-\w+)\/Topic\/Resource$/,
    'They name no merchant, and work while the key of the stage is disabled.',
  ],
}

const WITH_ALARMS: Reasons = {
  'Serverless-EventBusDLQ': [
    /^Protection\/Rule\/Resource$/,
    'An alarm counts what the rule matches, so a lost mail hides no change.',
  ],
}

const BEHIND_FRONT: Reasons = {
  'PCI.DSS.321-SecretsManagerUsingKMSKey': [
    /^Origin\/Secret\/Resource$/,
    'Its copy in the front’s region could not use a key of this one; it opens nothing by itself.',
  ],
}

const CANARY_KEY = /^Probe\/CanaryKey\/Resource$/
const PROBE = /^Probe\/Function\/Resource$/
const NEXT_RUN = 'A lost run is no loss: the next comes in a minute, and an alarm counts the runs.'

const FRONT: Reasons = {
  'AwsSolutions-CFR1': [/^Distribution\/Resource$/, 'Merchants’ servers may be anywhere.'],
  'AwsSolutions-CFR3': [
    /^Distribution\/Resource$/,
    'It has logs of the newer kind, delivered to CloudWatch as JSON, which the rule does not know.',
  ],
  'PCI.DSS.321-CloudWatchLogGroupEncrypted': [
    /^(WebAcl|Log|Probe)\/Log\/Resource$/,
    'The key of the account is in the gateway’s region. These lines have no path, query, ' +
      'header or body.',
  ],
  'AwsSolutions-SMG4': [CANARY_KEY, 'An operator issues the canary’s key, and revokes it.'],
  'PCI.DSS.321-SecretsManagerUsingKMSKey': [CANARY_KEY, 'It reads one balance, which is empty.'],
  'Serverless-LambdaDLQ': [PROBE, NEXT_RUN],
  'Serverless-LambdaAsyncFailureDestination': [
    /^Probe\/Function\/EventInvokeConfig\/Resource$/,
    NEXT_RUN,
  ],
  'Serverless-EventBusDLQ': [/^Probe\/EveryMinute\/Resource$/, NEXT_RUN],
  'Serverless-LambdaTracing': [PROBE, 'One call of one address needs no trace.'],
  'PCI.DSS.321-LambdaInsideVPC': [PROBE, 'It comes from outside, as a merchant does.'],
  'PCI.DSS.321-IAMNoInlinePolicy': [
    /^Probe\/Role\/Resource$/,
    EVERYWHERE['PCI.DSS.321-IAMNoInlinePolicy']?.[1] ?? '',
  ],
}

const FIXED_ADDRESSES: Reasons = {
  'AwsSolutions-IAM5[Resource::*]': [
    /^Functions\/deliver-webhook\/Role\/Resource$/,
    'Lambda connects the worker to the network in its name; interfaces have no names before ' +
      'they are made.',
  ],
  'Serverless-LambdaStarPermissions': [
    /^Functions\/deliver-webhook\/Role\/Resource$/,
    'Lambda connects the worker by them; the function’s own code is denied the interfaces.',
  ],
  'AwsSolutions-VPC3': [
    /^WebhookEgress\/AccessList\//,
    'The list exists to keep private networks out of reach, which a security group cannot say.',
  ],
  'PCI.DSS.321-VPCDefaultSecurityGroupClosed': [
    /^WebhookEgress\/Vpc\/Resource$/,
    'Nothing uses the default group; closing it takes a function of CDK’s with rights over ' +
      'all groups.',
  ],
  'PCI.DSS.321-VPCNoUnrestrictedRouteToIGW': [
    /^WebhookEgress\/Vpc\/PublicSubnet\d\/DefaultRoute$/,
    'These subnets hold the NAT gateways and nothing else.',
  ],
}

export function reasonsFor(stage: DeployedStage, stack: string) {
  if (stack === 'watch') return []
  const ofTopics = [
    hasAlarms(stage) ? WITH_PAGES : {},
    stage.alarmRecipients.length > 0 ? WITH_RECIPIENTS : {},
  ]
  if (stack === 'front') return [FRONT, ...ofTopics].flatMap((reasons) => Object.entries(reasons))
  return [
    EVERYWHERE,
    ...ofTopics,
    ON_CALL,
    stage.deployment === 'canary' ? WITH_CANARIES : {},
    stage.table.encryption === 'aws' ? WITHOUT_KEY : {},
    stage.invocationTrail ? WITH_TRAIL : {},
    stage.copies ? WITH_COPIES : {},
    hasAlarms(stage) ? WITH_ALARMS : {},
    stage.front === 'cloudfront' ? BEHIND_FRONT : {},
    stage.webhookEgress === 'nat' ? FIXED_ADDRESSES : {},
  ].flatMap((reasons) => Object.entries(reasons))
}
