/** A finding of a rule pack that stays, with the reason. */
export type Reason = {
  /** The rule's name; a rule with several findings names each, as `Rule[Resource::…]`. */
  readonly rule: string
  /** Of the resources it may be about: their path below the stack. */
  readonly where: RegExp
  readonly because: string
}

const ALL_FUNCTIONS = /^Functions\/[\w-]+\/Function\/Resource$/
const ALL_ROLES = /^(Functions\/[\w-]+|Canary|WebhookEgress\/FlowLogs)\/Role\/Resource$/
const DEAD_LETTERS = /^Queues\/(\w+\/Dead|stream|schedules)\/Queue\/Resource$/

const ARN = 'arn:<AWS::Partition>'
const HERE = '<AWS::Region>:<AWS::AccountId>'

/** In every stage and with every option. Names of the stage are replaced by STAGE. */
const EVERYWHERE: readonly Reason[] = [
  {
    rule: 'AwsSolutions-APIG4',
    where: /^HttpApi\/[\w-]+\/Resource$/,
    because:
      'Each function authenticates by itself: an authorizer cannot answer in the envelope of spec section 7, and costs a second cold start.',
  },
  {
    rule: `AwsSolutions-IAM5[Resource::${ARN}:secretsmanager:${HERE}:secret:gateway/STAGE/endpoint/*]`,
    where: /^Functions\/(deliver-webhook|register-endpoint|delete-endpoint)\/Role\/Resource$/,
    because: 'Endpoints are registered at run time, so their secrets are known by path only.',
  },
  {
    rule: 'AwsSolutions-IAM5[Resource::<TABLE.Arn>/stream/*]',
    where: /^Functions\/fan-out-events\/Role\/Resource$/,
    because: 'A stream’s own name is the time at which it was enabled.',
  },
  {
    rule: 'AwsSolutions-SMG4',
    where: /^(Provider\/(Secret|Callback)|Origin\/Secret)\/Resource$/,
    because:
      'The provider makes its key and token, and CloudFront holds the origin secret: docs/operations.md, section 4.',
  },
  {
    rule: 'AwsSolutions-SQS3',
    where: DEAD_LETTERS,
    because: 'It is a dead-letter queue: of the stream, or of runs that nothing takes up again.',
  },
  {
    rule: 'Serverless-SQSRedrivePolicy',
    where: DEAD_LETTERS,
    because: 'It is a dead-letter queue: nothing reads it but an operator.',
  },
  {
    rule: 'Serverless-LambdaDLQ',
    where: ALL_FUNCTIONS,
    because:
      'Only schedules start functions asynchronously, and those have a failure destination; the others are answered or read from a queue or stream.',
  },
  {
    rule: 'Serverless-LambdaEventSourceMappingDestination',
    where: /^EventSources\/(deliver-webhook|settle-client)\/Resource$/,
    because: 'Messages of a queue are set aside by the queue itself, after five receives.',
  },
  {
    rule: 'Serverless-LambdaTracing',
    where: ALL_FUNCTIONS,
    because: 'X-Ray’s SDK is 127 kB and 30 ms of every start, and an HTTP API takes no part in a trace.',
  },
  {
    rule: 'PCI.DSS.321-IAMNoInlinePolicy',
    where: ALL_ROLES,
    because:
      'A role and its one policy belong together and to nothing else: an inline policy cannot be shared, and is there when the role is.',
  },
  {
    rule: 'PCI.DSS.321-LambdaInsideVPC',
    where: ALL_FUNCTIONS,
    because:
      'Nothing here is reached by network address: AWS’s own endpoints, the provider and merchants. The worker that calls strangers has a network of its own with `webhookEgress: nat`.',
  },
]

/** Besides, where the stage has no key of its own. */
const WITHOUT_KEY: readonly Reason[] = [
  {
    rule: 'PCI.DSS.321-SNSEncryptedKMS',
    where: /^Alerts\/Topic\/Resource$/,
    because: 'Alerts carry ids and no personal data; `table.encryption: customer` encrypts them too.',
  },
  {
    rule: 'PCI.DSS.321-SecretsManagerUsingKMSKey',
    where: /^Provider\/(Secret|Callback)\/Resource$/,
    because: 'Encrypted with the key of AWS; `table.encryption: customer` uses the account’s own.',
  },
  {
    rule: 'PCI.DSS.321-CloudWatchLogGroupEncrypted',
    where: /\/(Log|AccessLog)\/Resource$/,
    because: 'Encrypted by CloudWatch; `table.encryption: customer` uses the account’s own key.',
  },
]

const WITH_RECIPIENTS: readonly Reason[] = [
  {
    rule: 'Serverless-SNSRedrivePolicy',
    where: /^(Alerts|Pages)\/Topic\/[^/]+\/Resource$/,
    because: 'What a mail or a pager missed is still on: alarms keep their state, and due work repeats alerts.',
  },
]

const BEHIND_FRONT: readonly Reason[] = [
  {
    rule: 'PCI.DSS.321-SecretsManagerUsingKMSKey',
    where: /^Origin\/Secret\/Resource$/,
    because: 'Its copy in the front’s region could not use a key of this one; it opens nothing by itself.',
  },
]

const FRONT: readonly Reason[] = [
  {
    rule: 'AwsSolutions-CFR1',
    where: /^Distribution\/Resource$/,
    because: 'Merchants’ servers may be anywhere.',
  },
  {
    rule: 'AwsSolutions-CFR3',
    where: /^Distribution\/Resource$/,
    because: 'It has logs of the newer kind, delivered to CloudWatch as JSON, which the rule does not know.',
  },
  {
    rule: 'PCI.DSS.321-CloudWatchLogGroupEncrypted',
    where: /^(WebAcl|Log)\/Log\/Resource$/,
    because: 'The key of the account is in the gateway’s region. These lines have no path, query, header or body.',
  },
]

const CANARY: readonly Reason[] = [
  {
    rule: `AwsSolutions-IAM5[Resource::${ARN}:lambda:${HERE}:function:gateway-STAGE-*]`,
    where: /^Canary\/Role\/Resource$/,
    because: 'CodeDeploy moves the aliases of this stage’s functions.',
  },
  {
    rule: `AwsSolutions-IAM5[Resource::${ARN}:cloudwatch:${HERE}:alarm:*]`,
    where: /^Canary\/Role\/Resource$/,
    because: 'CloudWatch lets alarms be read all or none.',
  },
]

const FIXED_ADDRESSES: readonly Reason[] = [
  {
    rule: 'AwsSolutions-IAM5[Resource::*]',
    where: /^Functions\/deliver-webhook\/Role\/Resource$/,
    because: 'Lambda connects the worker to the network in its name; interfaces have no names before they are made.',
  },
  {
    rule: 'Serverless-LambdaStarPermissions',
    where: /^Functions\/deliver-webhook\/Role\/Resource$/,
    because: 'The same interfaces; the function’s own code is denied them.',
  },
  {
    rule: 'AwsSolutions-VPC3',
    where: /^WebhookEgress\/AccessList\//,
    because: 'The list exists to keep private networks out of reach, which a security group cannot say.',
  },
  {
    rule: 'PCI.DSS.321-VPCDefaultSecurityGroupClosed',
    where: /^WebhookEgress\/Vpc\/Resource$/,
    because: 'Nothing uses the default group; closing it takes a function of CDK’s with rights over all groups.',
  },
  {
    rule: 'PCI.DSS.321-VPCNoUnrestrictedRouteToIGW',
    where: /^WebhookEgress\/Vpc\/PublicSubnet\d\/DefaultRoute$/,
    because: 'These subnets hold the NAT gateways and nothing else.',
  },
]

/** The reasons that hold for one stack of a stage. */
export const reasonsFor = (
  stage: {
    readonly front: string
    readonly alarmRecipients: readonly string[]
    readonly webhookEgress: string
    readonly deployment: string
    readonly table: { readonly encryption: string }
  },
  stack: 'gateway' | 'front',
): readonly Reason[] =>
  stack === 'front'
    ? FRONT
    : [
        ...EVERYWHERE,
        ...(stage.table.encryption === 'aws' ? WITHOUT_KEY : []),
        ...(stage.alarmRecipients.length > 0 ? WITH_RECIPIENTS : []),
        ...(stage.front === 'cloudfront' ? BEHIND_FRONT : []),
        ...(stage.deployment === 'canary' ? CANARY : []),
        ...(stage.webhookEgress === 'nat' ? FIXED_ADDRESSES : []),
      ]
