import { describe, expect, it } from 'vitest'
import { type FunctionSpec, functionName, isHttp, queuesOf, type Role } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { TABLE_ACTIONS } from '../../../shared/table/access.ts'
import { synthesised } from '../../support/stack-template.ts'
import { permissionsOf, ROLES, roleOf, type Stage } from './role-permissions.ts'

const secretPermissions = (stage: Stage) => ({
  'read-provider': [`secretsmanager:GetSecretValue on <gateway/${stage}/provider>`],
  'read-callback-tokens': [`secretsmanager:GetSecretValue on <gateway/${stage}/provider-callback>`],
})

const SEALS = { seal: 'Encrypt', unseal: 'Decrypt' } as const

const ownLog = (stage: Stage, name: string) =>
  ['logs:CreateLogStream', 'logs:PutLogEvents'].map(
    (action) => `${action} on </aws/lambda/gateway-${stage}-${name}>.Arn`,
  )

const triggerPermissions = (stage: Stage, { trigger }: FunctionSpec): readonly string[] => {
  switch (trigger.kind) {
    case 'queue':
      return ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].flatMap((action) =>
        queuesOf(trigger).map(({ queue }) => `sqs:${action} on <gateway-${stage}-${queue}>.Arn`),
      )
    case 'schedule':
      return [`sqs:SendMessage on <gateway-${stage}-schedules-dead>.Arn`]
    case 'http':
    case 'http-default':
    case 'operator':
      return []
  }
}

/** What IAM calls an action on fields, and the attributes of each kind that it may touch. */
const ENDPOINT = 'client_id created_at deleted_at enabled endpoint_id event_types last_alert_at slow_since ttl url'
const FIELDS: Readonly<Record<string, { readonly action: string } & Readonly<Record<string, string>>>> = {
  GetFields: { action: 'GetItem', ENDPOINTS: `pk sk ${ENDPOINT}`, PAYMENT: 'pk sk body ttl' },
  QueryFields: { action: 'Query', ENDPOINTS: `pk sk ${ENDPOINT}` },
  UpdateFields: {
    action: 'UpdateItem',
    ENDPOINTS: 'pk sk slow_since last_alert_at',
    LEDGER: 'pk sk credited_at credited_minor count_cancelled count_expired count_failed count_pending count_succeeded',
  },
}

const statedPermissions = (stage: Stage, spec: FunctionSpec): readonly string[] => [
  ...ownLog(stage, spec.name),
  ...TABLE_ACTIONS.flatMap((action) =>
    (spec.table[action] ?? []).map((kind) =>
      action in FIELDS
        ? `dynamodb:${FIELDS[action]?.action} on <gateway-${stage}>.Arn of ${kind}#*, ${FIELDS[action]?.[kind]} alone`
        : `dynamodb:${action} on <gateway-${stage}>.Arn of ${kind}#*`,
    ),
  ),
  ...(spec.table.indexes ?? []).map((index) => `dynamodb:Query on <gateway-${stage}>.Arn/index/${index}`),
  ...spec.sends.map((queue) => `sqs:SendMessage on <gateway-${stage}-${queue}>.Arn`),
  ...(spec.alerts ? [`sns:Publish on <gateway-${stage}-alerts>`] : []),
  ...spec.secrets.flatMap((access) => secretPermissions(stage)[access]),
  ...(spec.endpointSecrets ? [`kms:${SEALS[spec.endpointSecrets]} on <key>.Arn for endpoints of ${stage}`] : []),
  ...triggerPermissions(stage, spec),
]

const DECRYPT = ['Decrypt']
const SEND = ['Decrypt', 'GenerateDataKey']
const READ_TABLE = ['Decrypt', 'DescribeKey']
const WRITE_TABLE = [...READ_TABLE, 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo']

/** What services need of the customer key when the function calls them, and nothing more. */
const keyPermissions = (permissions: readonly string[]): readonly string[] => {
  const does = (...actions: readonly string[]) =>
    permissions.some((permission) => actions.some((action) => permission.startsWith(`${action} `)))
  const uses = {
    dynamodb: does('dynamodb:PutItem', 'dynamodb:UpdateItem')
      ? WRITE_TABLE
      : permissions.some((permission) => permission.startsWith('dynamodb:'))
        ? READ_TABLE
        : [],
    sqs: does('sqs:SendMessage') ? SEND : does('sqs:ReceiveMessage') ? DECRYPT : [],
    sns: does('sns:Publish') ? SEND : [],
    secretsmanager: does('secretsmanager:GetSecretValue') ? DECRYPT : [],
  }
  return Object.entries(uses).flatMap(([service, actions]) =>
    actions.map((action) => `kms:${action} on <key>.Arn via ${service}`),
  )
}

describe('permissions of the functions', () => {
  it.each(MANIFEST)('$name may do what its manifest entry states, and nothing else', (spec) => {
    expect(permissionsOf('dev', spec.name)).toStrictEqual(statedPermissions('dev', spec).toSorted())
  })

  it.each(MANIFEST)('$name may use the customer key of production through the services it uses, no others', (spec) => {
    const stated = statedPermissions('prod', spec)

    // Behind a front, functions that answer HTTP read the origin secret, which is encrypted with the key of AWS.
    const origin = isHttp(spec) ? ['secretsmanager:GetSecretValue on <gateway/prod/origin>'] : []

    expect(permissionsOf('prod', spec.name)).toStrictEqual([...stated, ...keyPermissions(stated), ...origin].toSorted())
  })
})

describe('what few functions may do', () => {
  const holders = (permission: string) =>
    MANIFEST.flatMap(({ name }) => (permissionsOf('prod', name).includes(permission) ? [name] : []))

  it.each([
    ['seals the secrets of endpoints', 'kms:Encrypt on <key>.Arn for endpoints of prod', ['register-endpoint']],
    ['unseals them', 'kms:Decrypt on <key>.Arn for endpoints of prod', ['deliver-webhook']],
    ['reads them as they are', 'dynamodb:BatchGetItem on <gateway-prod>.Arn of ENDPOINTS#*', ['deliver-webhook']],
    ['reads one as it is', 'dynamodb:GetItem on <gateway-prod>.Arn of ENDPOINTS#*', []],
    ['lists them as they are', 'dynamodb:Query on <gateway-prod>.Arn of ENDPOINTS#*', []],
    [
      'tells endpoints anything',
      'dynamodb:PutItem on <gateway-prod>.Arn of DELIVERY#*',
      // The first seven bring news of a payment from the provider; the others send again, test, recount or note attempts.
      (
        'api-create-payment api-cancel-payment receive-provider-callback refresh-payment check-due-payments ' +
        'sync-provider-transactions sync-slices ' +
        'api-redeliver-to-endpoint deliver-webhook send-test-event redeliver recount-ledger'
      ).split(' '),
    ],
  ])('%s', (_, permission, names) => {
    expect(holders(permission).toSorted()).toStrictEqual(names.toSorted())
  })
})

/** Of all policies of a role together, without white space; references in the template are longer than what they become. */
const ROLE_POLICY_LIMIT = 10_240

describe('roles of the functions', () => {
  it('have room for their permissions', () => {
    const sizes = MANIFEST.map(({ name }) => JSON.stringify(roleOf('prod', name)?.Policies).length)

    expect(Math.min(...sizes)).toBeGreaterThan(100)
    expect(Math.max(...sizes)).toBeLessThan(ROLE_POLICY_LIMIT)
  })

  it('are one for each, assumed by Lambda alone', () => {
    // One besides is of the function that proves a release.
    expect(ROLES.dev.size).toBe(MANIFEST.length + 1)
    for (const { AssumeRolePolicyDocument } of ROLES.dev.values()) {
      expect(AssumeRolePolicyDocument.Statement).toStrictEqual([
        { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
      ])
    }
  })
})

type Statement = { readonly Sid: string; readonly Action: unknown; readonly Resource: unknown }

const template = synthesised('prod')
const policies = template.ofType('AWS::IAM::ManagedPolicy').map(({ properties }) => ({
  name: String(properties['ManagedPolicyName']),
  statements: [Object(properties['PolicyDocument'])['Statement']].flat() as readonly Statement[],
}))
const INVOKE = { Sid: 'Invoke', Effect: 'Allow', Action: 'lambda:InvokeFunction' }

const arnOf = (name: string) => `arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:${name}`
const PROVER = arnOf('gateway-prod-prove-release')
const invokedBy = (role: Role): readonly string[] =>
  policies
    .filter(({ name }) => name === `gateway-prod-${role}`)
    .flatMap(({ statements }) => statements.filter(({ Sid }) => Sid === 'Invoke'))
    .flatMap(({ Resource }) => [Resource].flat().map(String))

describe('policies for people', () => {
  it('are told at every synthesis, each with the functions it reaches', () => {
    const told = template.messages.filter((message) => message.includes('/Duties: '))

    expect(told).toHaveLength(policies.length)
    for (const [index, { name, statements }] of policies.entries()) {
      const reached = statements.filter(({ Sid }) => Sid === 'Invoke').flatMap(({ Resource }) => [Resource].flat())
      expect(told[index]).toContain(`"${name}. For people who do this`)
      for (const arn of reached) expect(told[index]).toContain(String(arn).replace(/.*:gateway-prod-/, ''))
    }
  })

  it.each(['look', 'support', 'finance', 'admin'] as const)(
    'let %s invoke its functions, and do nothing else',
    (duty) => {
      const own = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator' && trigger.duty === duty)
      const statements = policies.find(({ name }) => name === `gateway-prod-${duty}`)?.statements

      expect(own.length).toBeGreaterThan(2)
      expect(statements).toStrictEqual([
        { ...INVOKE, Resource: own.map((spec) => arnOf(functionName('prod', spec))).toSorted() },
      ])
    },
  )

  it('let the deployer invoke what schedules start and what proves a release, and no action of an operator', () => {
    const scheduled = MANIFEST.filter(({ trigger }) => trigger.kind === 'schedule')
    const expected = [...scheduled.map((spec) => arnOf(functionName('prod', spec))), PROVER]

    expect(invokedBy('deploy')).toStrictEqual(expected.toSorted())
  })

  it('fit into what IAM takes, account and region written out', () => {
    for (const { statements } of policies) {
      const text = JSON.stringify(statements).replaceAll(/<AWS::\w+>/g, 'ap-southeast-3')

      expect(text.length).toBeLessThan(5_800)
    }
  })
})

it('an action that only looks may change nothing', () => {
  const looks = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator' && trigger.duty === 'look')
  const changes = looks.flatMap(({ name, table }) =>
    Object.keys(table)
      .filter((call) => /Put|Update|Delete/.test(call))
      .map((call) => [name, call]),
  )

  expect(looks.length).toBeGreaterThan(10)
  expect(changes).toStrictEqual([])
  expect(looks.flatMap(({ sends }) => sends)).toStrictEqual([])
})

it('nothing may update or delete an audit record', () => {
  const changes = MANIFEST.flatMap(({ name, table }) =>
    [...(table.UpdateItem ?? []), ...(table.DeleteItem ?? [])].map((kind) => [name, kind]),
  )

  expect(changes.length).toBeGreaterThan(20)
  expect(changes.filter(([, kind]) => kind === 'AUDIT')).toStrictEqual([])
})
