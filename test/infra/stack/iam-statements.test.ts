import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { INTERFACE_ACTIONS } from '../../../infra/stack/network/webhook-egress.ts'
import { type Resource, synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES } from '../../support/stage-options.ts'

type Holder = Pick<Resource, 'logicalId' | 'type' | 'properties'>

/** One permission of the template, whatever document it stands in. */
type Statement = {
  /** The type of the resource that carries it, such as `AWS::IAM::Role`. */
  readonly of: string
  readonly logicalId: string
  readonly effect: string
  readonly fields: Readonly<Record<(typeof FIELDS)[number], readonly string[]>>
}

/** Where a wildcard widens. In a condition it can only narrow. */
const FIELDS = ['Principal', 'NotPrincipal', 'Action', 'NotAction', 'Resource', 'NotResource', 'SourceArn'] as const

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every text in a value: a principal may be a text, a list, or either of them by kind. */
const textsIn = (value: unknown): readonly string[] => {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (isRecord(value)) return Object.values(value).flatMap(textsIn)
  return typeof value === 'string' ? [value] : []
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Policy documents wherever they are, also where CloudFormation wants them as text. */
const documentsIn = (value: unknown): readonly (readonly unknown[])[] => {
  if (Array.isArray(value)) return value.flatMap(documentsIn)
  if (typeof value === 'string') return value.startsWith('{') ? documentsIn(parsed(value)) : []
  if (!isRecord(value)) return []
  const { Statement: statement, ...rest } = value
  return [...(statement === undefined ? [] : [[statement].flat()]), ...Object.values(rest).flatMap(documentsIn)]
}

const statementOf = ({ type, logicalId }: Holder, statement: unknown): Statement => {
  const raw = isRecord(statement) ? statement : {}
  const fields = Object.fromEntries(FIELDS.map((field) => [field, textsIn(raw[field])])) as Statement['fields']
  return { of: type, logicalId, effect: String(raw['Effect']), fields }
}

/** Every statement of a template: of roles, of policies of queues, topics, keys and others, and of Lambda's own kind. */
const statementsOf = ({ resources }: { readonly resources: readonly Holder[] }): readonly Statement[] =>
  resources.flatMap((resource) =>
    resource.type === 'AWS::Lambda::Permission'
      ? [statementOf(resource, { Effect: 'Allow', ...resource.properties })]
      : documentsIn(resource.properties)
          .flat()
          .map((statement) => statementOf(resource, statement)),
  )

/**
 * Its wildcards, each as `AWS::IAM::Role Allow Resource secret:gateway/*`. A role that reaches everything is named with
 * what it may do there, so that a reason for one action is none for another.
 */
const wildcardsOf = ({ of, effect, fields }: Statement): readonly string[] =>
  FIELDS.flatMap((field) =>
    fields[field]
      .filter((text) => /[*?]/.test(text))
      .map((text) => {
        const actions =
          of === 'AWS::IAM::Role' && field === 'Resource' && text === '*'
            ? ` of ${fields.Action.toSorted().join(', ')}`
            : ''
        return `${of} ${effect} ${field} ${text}${actions}`
      }),
  )

const statements = Object.entries(OPTIONAL_STAGES).map(([what, stage]) => ({
  what,
  stage: stage.settings.name,
  all: [
    ...statementsOf(synthesised(stage)),
    ...(stage.front === 'cloudfront' ? statementsOf(synthesisedFront(stage)) : []),
  ],
}))

const ARN = 'arn:<AWS::Partition>'
const HERE = '<AWS::Region>:<AWS::AccountId>'

const httpRoutes = MANIFEST.flatMap(({ trigger }) =>
  trigger.kind === 'http' ? [trigger.path] : trigger.kind === 'http-default' ? [''] : [],
)

/** Every wildcard there is, and why it must be one. Whatever is not in this list fails the test below. */
const EXPLAINED: Readonly<Record<string, string>> = {
  [`AWS::IAM::Role Allow Resource ${ARN}:lambda:${HERE}:function:gateway-STAGE-*`]:
    'CodeDeploy moves the aliases of the API’s functions, which are this stage’s; others of the stage have no alias.',
  [`AWS::IAM::Role Allow Resource ${ARN}:cloudwatch:${HERE}:alarm:*`]:
    'CodeDeploy reads alarms, and CloudWatch allows that for all of them or for none.',
  [`AWS::IAM::Role Allow Resource * of ${INTERFACE_ACTIONS.toSorted().join(', ')}`]:
    'Lambda connects the delivery worker to the network in its name; interfaces have no names before they are made.',
  [`AWS::IAM::Role Deny Resource * of ${INTERFACE_ACTIONS.toSorted().join(', ')}`]:
    'A denial: the worker’s own code connects nothing.',
  [`AWS::IAM::ManagedPolicy Allow Resource ${ARN}:iam::<AWS::AccountId>:role/cdk-hnb659fds-*`]:
    'The roles that `cdk bootstrap` makes for deploying have account and region in their names; a front is in another region.',
  'AWS::S3::BucketPolicy Deny Principal *': 'A denial: it allows nothing.',
  'AWS::S3::BucketPolicy Deny Action s3:*': 'A denial: nothing is allowed on a plain connection.',
  'AWS::S3::BucketPolicy Deny Resource <InvocationTrailBucket153839A7>.Arn/*':
    'A denial, of all that is in the bucket.',
  'AWS::S3::BucketPolicy Allow Resource <InvocationTrailBucket153839A7>.Arn/AWSLogs/<AWS::AccountId>/*':
    'CloudTrail names its files by day and content; they are this account’s.',
  'AWS::EC2::VPCEndpoint Allow Principal *':
    'Only what is in the subnets reaches the endpoint, which is the worker, and only the one table lies behind it.',
  'AWS::SQS::QueuePolicy Deny Principal *': 'A denial: it allows nothing.',
  'AWS::SQS::QueuePolicy Deny Action sqs:*': 'A denial: nothing is allowed on a plain connection.',
  'AWS::SNS::TopicPolicy Deny Principal *': 'A denial: it allows nothing.',
  'AWS::KMS::Key Allow Resource *': 'In a key’s own policy every resource is the key itself.',
  'AWS::KMS::Key Allow Action kms:*':
    'Of the account as such: its IAM policies decide. Without it the key could never be changed or deleted.',
  'AWS::KMS::Key Allow Action kms:GenerateDataKey*':
    'Of the account as such, by Secrets Manager only: its IAM policies decide. CDK writes it with a secret that has a key.',
  'AWS::KMS::Key Allow Action kms:ReEncrypt*':
    'Of the account as such, by Secrets Manager only: its IAM policies decide. CDK writes it with a secret that has a key.',
  ...Object.fromEntries(
    httpRoutes.map((path) => [
      `AWS::Lambda::Permission Allow SourceArn ${ARN}:execute-api:${HERE}:<API>/*/*${path}`,
      'Any stage and method of this one API at this one path: the API has one stage, and its routes name the methods.',
    ]),
  ),
}

/** The same words in every stage, and for the API whatever its logical id is. */
const neutral = (wildcard: string, stage: string) =>
  wildcard
    .replaceAll(`gateway-${stage}`, 'gateway-STAGE')
    .replaceAll(`gateway/${stage}/`, 'gateway/STAGE/')
    .replace(/execute-api:(.*):<\w+>\//, 'execute-api:$1:<API>/')

const found = statements.flatMap(({ what, stage, all }) =>
  all.flatMap((statement) =>
    wildcardsOf(statement).map((wildcard) => ({ what, at: statement.logicalId, wildcard: neutral(wildcard, stage) })),
  ),
)

describe('IAM statements of the template', () => {
  it('have no wildcard without a written reason', () => {
    expect(found.filter(({ wildcard }) => !(wildcard in EXPLAINED))).toStrictEqual([])
  })

  it('have every wildcard that is explained', () => {
    const wildcards = new Set(found.map(({ wildcard }) => wildcard))

    expect(Object.keys(EXPLAINED).filter((wildcard) => !wildcards.has(wildcard))).toStrictEqual([])
  })

  it('allow by naming what is allowed, never by naming what is not', () => {
    const inverted = statements.flatMap(({ all }) =>
      all.filter(
        ({ fields: { NotAction, NotPrincipal, NotResource } }) =>
          [NotAction, NotPrincipal, NotResource].flat().length > 0,
      ),
    )

    expect(inverted).toStrictEqual([])
  })
})

describe('the search for statements', () => {
  const resource = (type: string, properties: object) => ({
    resources: [{ logicalId: 'It', type, properties: { ...properties } }],
  })
  const statement = { Effect: 'Allow', Action: ['s3:Get*'], Resource: 'bucket', Principal: { AWS: ['*'] } }

  it.each([
    ['a policy of an unforeseen kind', 'AWS::New::Thing', { Deep: [{ Inside: { Statement: [statement] } }] }],
    [
      'a policy that is written as text',
      'AWS::Logs::ResourcePolicy',
      { PolicyDocument: JSON.stringify({ Statement: [statement] }) },
    ],
  ])('finds the wildcards of %s', (_, type, properties) => {
    const wildcards = statementsOf(resource(type, properties)).flatMap(wildcardsOf)

    expect(wildcards).toStrictEqual([`${type} Allow Principal *`, `${type} Allow Action s3:Get*`])
  })
})
