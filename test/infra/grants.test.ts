import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { type FunctionSpec, functionName, MANIFEST } from '../../functions/manifest.ts'
import { TABLE_ACTIONS } from '../../shared/table/access.ts'
import { synthesised } from '../support/stack-template.ts'

const template = synthesised('dev')

const OneOrMany = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => [value].flat()),
)
/** Of stated kinds of items only, and never without a key. */
const LeadingKeys = v.strictObject({
  'ForAllValues:StringLike': v.strictObject({ 'dynamodb:LeadingKeys': OneOrMany }),
  Null: v.strictObject({ 'dynamodb:LeadingKeys': v.literal('false') }),
})
const Role = v.strictObject({
  AssumeRolePolicyDocument: v.object({
    Statement: v.array(v.object({ Effect: v.string(), Action: v.string(), Principal: v.unknown() })),
  }),
  Policies: v.array(
    v.object({
      PolicyDocument: v.object({
        Statement: v.array(
          v.strictObject({
            Effect: v.literal('Allow'),
            Action: OneOrMany,
            Resource: OneOrMany,
            Condition: v.optional(LeadingKeys),
          }),
        ),
      }),
    }),
  ),
})

const roles = new Map(
  template.ofType('AWS::IAM::Role').map(({ logicalId, properties }) => [logicalId, v.parse(Role, properties)]),
)

/** Every single permission of a function, as `action on resource`, and `of` which leading keys. */
const permissionsOf = (name: string): readonly string[] => {
  const lambda = template.ofType('AWS::Lambda::Function').find(({ properties }) => properties['FunctionName'] === name)
  const role = roles.get(String(lambda?.properties['Role']).replace(/^<(.*)>\.Arn$/, '$1'))
  return (role?.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource, Condition }) => {
      const all = Action.flatMap((action) => Resource.map((on) => `${action} on ${on}`))
      const kinds = Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys']
      return kinds ? all.flatMap((permission) => kinds.map((kind) => `${permission} of ${kind}`)) : all
    })
    .toSorted()
}

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
    ...TABLE_ACTIONS.flatMap((action) =>
      (spec.table[action] ?? []).map((kind) => `dynamodb:${action} on <gateway-dev>.Arn of ${kind}#*`),
    ),
    ...(spec.table.indexes ?? []).map((index) => `dynamodb:Query on <gateway-dev>.Arn/index/${index}`),
    ...spec.sends.map((queue) => `sqs:SendMessage on <gateway-dev-${queue}>.Arn`),
    ...(spec.alerts ? ['sns:Publish on <gateway-dev-alerts>'] : []),
    ...spec.secrets.flatMap((access) => SECRET_PERMISSIONS[access]),
    ...triggerPermissions(spec),
  ].toSorted()

describe('permissions of the functions', () => {
  it.each(MANIFEST)('$name may do what its manifest entry states, and nothing else', (spec) => {
    expect(permissionsOf(functionName('dev', spec))).toStrictEqual(statedPermissions(spec))
  })

  it('of the delivery worker, spelled out: no bank detail, no payment, no API key, no ledger', () => {
    expect(permissionsOf('gateway-dev-deliver-webhook')).toStrictEqual([
      'dynamodb:GetItem on <gateway-dev>.Arn of DELIVERY#*',
      'dynamodb:GetItem on <gateway-dev>.Arn of ENDPOINTS#*',
      'dynamodb:PutItem on <gateway-dev>.Arn of DELIVERY#*',
      'dynamodb:UpdateItem on <gateway-dev>.Arn of DELIVERY#*',
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

  it('never reach the table as a whole', () => {
    const onTable = MANIFEST.flatMap((spec) => permissionsOf(functionName('dev', spec))).filter((permission) =>
      permission.includes(' on <gateway-dev>.Arn'),
    )

    expect(onTable).toContain('dynamodb:GetItem on <gateway-dev>.Arn of CLIENT#*')
    expect(onTable.filter((permission) => !/ of [A-Z]+#\*$|\.Arn\/(index|stream)\//.test(permission))).toStrictEqual([])
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
