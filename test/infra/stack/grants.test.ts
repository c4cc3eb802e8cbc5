import { describe, expect, it } from 'vitest'
import {
  answersClients,
  type FunctionSpec,
  isHttp,
  queuesOf,
} from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { OPEN_FIELDS, TABLE_ACTIONS, type TableAction } from '../../../shared/table/access.ts'
import type * as keys from '../../../shared/table/keys.ts'
import { synthesised } from '../../support/stack-template.ts'
import { permissionsOf, roleOf, type Stage } from './role-permissions.ts'

const SECRETS = { 'read-provider': 'provider', 'read-callback-tokens': 'provider-callback' }
const SEALS = { seal: 'Encrypt', unseal: 'Decrypt' }

function triggerPermissions(stage: Stage, { trigger }: FunctionSpec) {
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

const ENDPOINT =
  'client_id created_at deleted_at enabled endpoint_id event_types last_alert_at slow_since ttl url'
/**
 * For each action on fields: its name in IAM, and the attributes of each kind that it may read or
 * write.
 */
const FIELDS: Readonly<
  Record<string, { readonly action: string } & Readonly<Record<string, string>>>
> = {
  GetFields: { action: 'GetItem', ENDPOINTS: `pk sk ${ENDPOINT}`, EVENT: 'pk sk body owner ttl' },
  QueryFields: { action: 'Query', AUDIT: 'pk sk ttl', ENDPOINTS: `pk sk ${ENDPOINT}` },
}

/** The one batch read of a key and its client. */
const CALLER =
  'of APIKEY#*,CLIENT#*, pk sk client_id enabled expires_at name permissions ' +
  'rate_limit_per_second return_url revoked_at ttl alone'

/** A function that may see a kind of item updates it by one grant, whatever the update answers. */
function statedUpdates(stage: Stage, { table, updates }: FunctionSpec) {
  const seen = table.UpdateItem ?? []
  const unseen = (table.UpdateFields ?? []).filter((kind) => !seen.includes(kind))
  const stated = (kind: keys.Partition, limit: string) =>
    `dynamodb:UpdateItem on <gateway-${stage}>.Arn of ${kind}#*, ` +
    `${['pk', 'sk', ...(updates[kind] ?? [])].join(' ')}${limit}`
  return [
    ...seen.map((kind) => stated(kind, '')),
    ...unseen.map((kind) => stated(kind, ', without an answer')),
  ]
}

function statedPermissions(stage: Stage, spec: FunctionSpec) {
  return [
    ...['CreateLogStream', 'PutLogEvents'].map(
      (action) => `logs:${action} on </aws/lambda/gateway-${stage}-${spec.name}>.Arn`,
    ),
    ...statedUpdates(stage, spec),
    ...(spec.table.BatchGetFields
      ? [`dynamodb:BatchGetItem on <gateway-${stage}>.Arn ${CALLER}`]
      : []),
    ...TABLE_ACTIONS.filter((action) => !/^Update|^BatchGetFields/.test(action)).flatMap((action) =>
      (spec.table[action] ?? []).map((kind) =>
        action in FIELDS
          ? `dynamodb:${FIELDS[action]?.action} on <gateway-${stage}>.Arn of ${kind}#*, ${FIELDS[action]?.[kind]} alone`
          : `dynamodb:${action} on <gateway-${stage}>.Arn of ${kind}#*`,
      ),
    ),
    ...(spec.table.indexes ?? []).map(
      (index) => `dynamodb:Query on <gateway-${stage}>.Arn/index/${index}`,
    ),
    ...spec.sends.map((queue) => `sqs:SendMessage on <gateway-${stage}-${queue}>.Arn`),
    ...(spec.alerts ? [`sns:Publish on <gateway-${stage}-alerts>`] : []),
    ...spec.secrets.map(
      (access) => `secretsmanager:GetSecretValue on <gateway/${stage}/${SECRETS[access]}>`,
    ),
    ...(spec.endpointSecrets
      ? [`kms:${SEALS[spec.endpointSecrets]} on <key>.Arn for endpoints of ${stage}`]
      : []),
    ...triggerPermissions(stage, spec),
  ]
}

const DECRYPT = ['Decrypt']
const SEND = ['Decrypt', 'GenerateDataKey']
const READ_TABLE = ['Decrypt', 'DescribeKey']
const WRITE_TABLE = [...READ_TABLE, 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo']

function keyPermissions(permissions: readonly string[]) {
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

  it.each(MANIFEST)(
    '$name may use the customer key of production only through the services that it calls',
    (spec) => {
      const stated = statedPermissions('prod', spec)

      // Behind a front, functions that answer HTTP read the origin secret, which is encrypted with
      // the key of AWS.
      const origin = isHttp(spec) ? ['secretsmanager:GetSecretValue on <gateway/prod/origin>'] : []

      expect(permissionsOf('prod', spec.name)).toStrictEqual(
        [...stated, ...keyPermissions(stated), ...origin].toSorted(),
      )
    },
  )
})

it.each([
  [
    'seal endpoint secrets',
    'kms:Encrypt on <key>.Arn for endpoints of prod',
    ['register-endpoint'],
  ],
  [
    'unseal endpoint secrets',
    'kms:Decrypt on <key>.Arn for endpoints of prod',
    ['deliver-webhook'],
  ],
  [
    'read whole endpoint rows',
    'dynamodb:BatchGetItem on <gateway-prod>.Arn of ENDPOINTS#*',
    ['deliver-webhook'],
  ],
  ['read one whole endpoint row', 'dynamodb:GetItem on <gateway-prod>.Arn of ENDPOINTS#*', []],
  ['query whole endpoint rows', 'dynamodb:Query on <gateway-prod>.Arn of ENDPOINTS#*', []],
])('only few functions may %s', (_, permission, names) => {
  const holders = MANIFEST.flatMap(({ name }) =>
    permissionsOf('prod', name).includes(permission) ? [name] : [],
  )

  expect(holders.toSorted()).toStrictEqual(names.toSorted())
})

it('no function that answers clients may read bank details: of a client it reads named fields', () => {
  const specs = MANIFEST.filter(answersClients)
  const reads = specs.flatMap(({ name }) =>
    permissionsOf('prod', name).filter((text) => text.includes('CLIENT#*')),
  )

  expect(specs.length).toBeGreaterThan(10)
  expect(reads).toStrictEqual(
    specs.map(() => `dynamodb:BatchGetItem on <gateway-prod>.Arn ${CALLER}`),
  )
})

it('the policies of each role are below the size limit of IAM', () => {
  const sizes = MANIFEST.map(({ name }) => JSON.stringify(roleOf('prod', name)?.Policies).length)

  expect(Math.min(...sizes)).toBeGreaterThan(100)
  // The limit is 10,240 for all policies of a role, without white space. The rest is a reserve for
  // what a later release writes. References are longer in the template than deployed.
  expect(Math.max(...sizes)).toBeLessThanOrEqual(9 * 1_024)
})

describe('policies for people', () => {
  const { all, each } = synthesised('prod')
  const policies = all('AWS::IAM::ManagedPolicy').map((policy) => JSON.stringify(policy))

  it('let the deployer read each secret of the stage, as the doctor does', () => {
    const secrets = each('AWS::SecretsManager::Secret', 'Name').map((name) => `"<${String(name)}>"`)
    const deployer = policies.find((text) => text.includes('"gateway-prod-deploy"'))

    expect(secrets).toHaveLength(3)
    expect(secrets.filter((secret) => !deployer?.includes(secret))).toStrictEqual([])
  })

  it('let the deployer put the key of the canary merchant, in the region of the front', () => {
    const [statement] = policies
      .filter((text) => text.includes('"gateway-prod-deploy"'))
      .flatMap((text) => text.match(/\{[^{]*"Sid":"Secrets"\}/g) ?? [])

    expect(statement).toContain('secretsmanager:PutSecretValue')
    expect(statement).toMatch(/secretsmanager:us-east-1:[^"]*:secret:gateway\/prod\/canary-key-/)
  })

  it('are below the size limit of IAM with the account and region inserted', () => {
    for (const text of policies) {
      expect(text.replaceAll(/<AWS::\w+>/g, 'ap-southeast-3').length).toBeLessThan(5_800)
    }
  })
})

it.each([
  ['look', '', ''],
  [
    'support',
    'AUDIT DELIVERY DESTINATION EVENT NOTED PAYMENT REFERENCE SUSPENSE SYNC TEST',
    'ENDPOINTS EVENT LEDGER',
  ],
  [
    'finance',
    // A recount puts what the records of all duties say.
    'ADJUSTMENT APIKEY APPROVAL AUDIT BATCH CLIENT DELIVERY DESTINATION ENDPOINTS EVENT HOUSE ' +
      'JOURNAL LEDGER NOTED PAYMENT PAYOUTREF REFERENCE SETTLEMENT SUSPENSE VERDICT',
    'LEDGER',
  ],
  ['approve', 'APPROVAL AUDIT', ''],
  ['admin', 'APIKEY AUDIT CLIENT ENDPOINTS LEDGER VERDICT', 'CLIENT'],
])(
  'operator actions of the duty `%s` may change only: %s; some fields of: %s',
  (duty, kinds, someFields) => {
    const specs = MANIFEST.filter(
      ({ trigger }) => trigger.kind === 'operator' && trigger.duty === duty,
    )
    const kindsOf = (...calls: readonly TableAction[]) =>
      [...new Set(specs.flatMap(({ table }) => calls.flatMap((call) => table[call] ?? [])))]
        .toSorted()
        .join(' ')

    expect(kindsOf('PutItem', 'UpdateItem', 'DeleteItem')).toBe(kinds)
    expect(kindsOf('UpdateFields')).toBe(someFields)
    if (duty === 'look') expect(specs.flatMap(({ sends }) => sends)).toStrictEqual([])
  },
)

it('nothing may update or delete an audit record', () => {
  const changes = MANIFEST.flatMap(({ name, table }) =>
    [...(table.UpdateItem ?? []), ...(table.DeleteItem ?? [])].map((kind) => [name, kind]),
  )

  expect(changes.length).toBeGreaterThan(20)
  expect(changes.filter(([, kind]) => kind === 'AUDIT')).toStrictEqual([])
})

it('every grant of some fields has `ttl`, which the table reads with any fields', () => {
  const granted = Object.entries(OPEN_FIELDS).flatMap(([action, kinds]) =>
    Object.entries(kinds).map(([kind, fields]) => [`${action} ${kind}`, fields]),
  )

  expect(granted.length).toBeGreaterThan(4)
  expect(granted.filter(([, fields]) => !fields?.includes('ttl'))).toStrictEqual([])
})
