import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { type FunctionSpec, functionName, MANIFEST } from '../../functions/manifest.ts'
import { synthesised } from '../support/stack-template.ts'

const template = synthesised('dev')

const OneOrMany = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => [value].flat()),
)
const Role = v.strictObject({
  AssumeRolePolicyDocument: v.object({
    Statement: v.array(v.object({ Effect: v.string(), Action: v.string(), Principal: v.unknown() })),
  }),
  Policies: v.array(
    v.object({
      PolicyDocument: v.object({
        Statement: v.array(v.strictObject({ Effect: v.literal('Allow'), Action: OneOrMany, Resource: OneOrMany })),
      }),
    }),
  ),
})

const roles = new Map(
  template.ofType('AWS::IAM::Role').map(({ logicalId, properties }) => [logicalId, v.parse(Role, properties)]),
)

/** Every single permission of a function, as `action on resource`. */
const permissionsOf = (name: string): readonly string[] => {
  const lambda = template.ofType('AWS::Lambda::Function').find(({ properties }) => properties['FunctionName'] === name)
  const role = roles.get(String(lambda?.properties['Role']).replace(/^<(.*)>\.Arn$/, '$1'))
  return (role?.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) => Action.flatMap((action) => Resource.map((on) => `${action} on ${on}`)))
    .toSorted()
}

const INDEXES = ['by-owner', 'by-status', 'by-paid', 'by-due']
const ENDPOINT_SECRETS =
  'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:gateway/dev/endpoint/*'

const SECRET_PERMISSIONS = {
  'read-provider': ['secretsmanager:GetSecretValue on <gateway/dev/provider>'],
  'read-endpoints': [`secretsmanager:GetSecretValue on ${ENDPOINT_SECRETS}`],
  'manage-endpoints': [
    `secretsmanager:CreateSecret on ${ENDPOINT_SECRETS}`,
    `secretsmanager:DeleteSecret on ${ENDPOINT_SECRETS}`,
  ],
}

const own = (name: string) =>
  ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => `${action} on </aws/lambda/${name}>.Arn`)

const triggerPermissions = ({ trigger }: FunctionSpec): readonly string[] => {
  if (trigger.kind === 'queue') {
    return ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map(
      (action) => `sqs:${action} on <gateway-dev-${trigger.queue}>.Arn`,
    )
  }
  if (trigger.kind !== 'stream') return []
  return [
    ...['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
      (action) => `dynamodb:${action} on <gateway-dev>.Arn/stream/*`,
    ),
    'sqs:SendMessage on <gateway-dev-stream-dead>.Arn',
  ]
}

const statedPermissions = (spec: FunctionSpec): readonly string[] =>
  [
    ...own(functionName('dev', spec)),
    ...spec.table.map((action) => `dynamodb:${action} on <gateway-dev>.Arn`),
    ...(spec.table.includes('Query')
      ? INDEXES.map((index) => `dynamodb:Query on <gateway-dev>.Arn/index/${index}`)
      : []),
    ...spec.sends.map((queue) => `sqs:SendMessage on <gateway-dev-${queue}>.Arn`),
    ...(spec.alerts ? ['sns:Publish on <gateway-dev-alerts>'] : []),
    ...spec.secrets.flatMap((access) => SECRET_PERMISSIONS[access]),
    ...triggerPermissions(spec),
  ].toSorted()

describe('permissions of the functions', () => {
  it.each(MANIFEST)('$name may do what its manifest entry states, and nothing else', (spec) => {
    expect(permissionsOf(functionName('dev', spec))).toStrictEqual(statedPermissions(spec))
  })

  it('of the delivery worker, spelled out', () => {
    expect(permissionsOf('gateway-dev-deliver-webhook')).toStrictEqual([
      'dynamodb:GetItem on <gateway-dev>.Arn',
      'dynamodb:PutItem on <gateway-dev>.Arn',
      'dynamodb:UpdateItem on <gateway-dev>.Arn',
      'logs:CreateLogStream on </aws/lambda/gateway-dev-deliver-webhook>.Arn',
      'logs:PutLogEvents on </aws/lambda/gateway-dev-deliver-webhook>.Arn',
      `secretsmanager:GetSecretValue on ${ENDPOINT_SECRETS}`,
      'sns:Publish on <gateway-dev-alerts>',
      'sqs:DeleteMessage on <gateway-dev-webhooks>.Arn',
      'sqs:GetQueueAttributes on <gateway-dev-webhooks>.Arn',
      'sqs:ReceiveMessage on <gateway-dev-webhooks>.Arn',
      'sqs:SendMessage on <gateway-dev-webhooks>.Arn',
    ])
  })

  it('of the answer to unknown paths are its own log', () => {
    expect(permissionsOf('gateway-dev-api-not-found')).toStrictEqual(own('gateway-dev-api-not-found'))
  })

  it('use a wildcard only for what has no name at deployment: endpoints’ secrets and the stream', () => {
    const wildcards = MANIFEST.flatMap((spec) => permissionsOf(functionName('dev', spec)))
      .filter((permission) => permission.includes('*'))
      .map((permission) => permission.replace(/^.* on /, ''))

    expect(new Set(wildcards)).toStrictEqual(new Set([ENDPOINT_SECRETS, '<gateway-dev>.Arn/stream/*']))
  })
})

describe('roles of the functions', () => {
  it('are one for each, assumed by Lambda alone, without managed or shared policies', () => {
    // A role with managed policies would not parse above: its shape is strict.
    expect(roles.size).toBe(MANIFEST.length)
    expect(template.ofType('AWS::IAM::Policy')).toStrictEqual([])
    expect(template.ofType('AWS::IAM::ManagedPolicy')).toStrictEqual([])
    for (const { AssumeRolePolicyDocument } of roles.values()) {
      expect(AssumeRolePolicyDocument.Statement).toStrictEqual([
        { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
      ])
    }
  })
})
