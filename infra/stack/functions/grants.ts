import { Stack } from 'aws-cdk-lib'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import {
  type FunctionSpec,
  isHttp,
  queuesOf,
  type SecretAccess,
} from '../../../functions/function-spec.ts'
import { sealContext } from '../../../shared/secrets.ts'
import {
  iamAction,
  OPEN_FIELDS,
  type ReadFields,
  TABLE_ACTIONS,
  type TableAction,
} from '../../../shared/table/access.ts'
import { type Partition, pkPrefix } from '../../../shared/table/keys.ts'
import { allow } from '../allow.ts'
import type { DataStack } from '../data-stack.ts'
import { egressGrants, type WebhookEgress } from '../network/webhook-egress.ts'
import type { DeployedStage } from '../stage.ts'

export type GrantedResources = {
  readonly stage: DeployedStage
  readonly data: DataStack
  /** Only in a stage whose webhooks leave from fixed addresses. */
  readonly egress?: WebhookEgress | undefined
}

const READ_SECRET = ['secretsmanager:GetSecretValue']

/** All permissions of a function: for its manifest entry, its trigger and its own log. */
export function grantsOf(spec: FunctionSpec, resources: GrantedResources, logGroup: LogGroup) {
  const { stage, data } = resources
  return [
    ...logGrant(logGroup),
    ...tableGrants(spec, data),
    ...allow(
      ['sqs:SendMessage'],
      spec.sends.map((name) => data.queues.byName[name].queueArn),
    ),
    ...allow(spec.alerts ? ['sns:Publish'] : [], [data.topic.topicArn]),
    ...spec.secrets.flatMap((access) => allow(READ_SECRET, [secretOf(access, data)])),
    ...triggerGrants(spec, data),
    ...keyGrants(spec, data.key),
    ...sealGrants(spec, data.sealKey, stage.settings.name),
    // Functions that answer HTTP compare requests with this secret; no other one can read it.
    ...(isHttp(spec) && data.originSecret ? allow(READ_SECRET, [data.originSecret.secretArn]) : []),
    ...egressGrants(spec, resources),
  ]
}

export function logGrant({ logGroupArn }: LogGroup) {
  return allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroupArn])
}

/**
 * Each action reaches only the stated kinds of items. The second condition refuses a request
 * without a key, which the first would allow. An index has other keys, which several kinds share,
 * so a grant names the index itself.
 */
function tableGrants(spec: FunctionSpec, { table }: DataStack) {
  const { table: access } = spec
  return [
    ...TABLE_ACTIONS.flatMap((action) => {
      const partitions = access[action] ?? []
      switch (action) {
        case 'GetFields':
        case 'QueryFields':
          return partitions.flatMap((partition) => readGrants(action, [partition], table))
        // One batch reads items of several kinds, and IAM allows a request by one statement.
        case 'BatchGetFields':
          return partitions.length > 0 ? readGrants(action, partitions, table) : []
        case 'UpdateItem':
        case 'UpdateFields':
          return partitions.flatMap((partition) => updateGrants(spec, action, partition, table))
        case 'GetItem':
        case 'BatchGetItem':
        case 'Query':
        case 'PutItem':
        case 'DeleteItem':
        case 'ConditionCheckItem':
          return allow(partitions.length > 0 ? [iamAction(action)] : [], [table.tableArn], {
            'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions.map(anyKeyOf) },
            Null: { 'dynamodb:LeadingKeys': 'false' },
          })
      }
    }),
    ...allow(
      ['dynamodb:Query'],
      (access.indexes ?? []).map((name) => `${table.tableArn}/index/${name}`),
    ),
  ]
}

/**
 * The open fields of these kinds of items, and their keys. A request for all attributes is refused.
 */
function readGrants(action: ReadFields, partitions: readonly Partition[], { tableArn }: ITableV2) {
  const fields = partitions.flatMap((partition) => OPEN_FIELDS[action][partition] ?? [])
  return allow([iamAction(action)], [tableArn], {
    ...ofFields(partitions, [...new Set(fields)].toSorted()),
    StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
  })
}

/**
 * IAM counts the attributes of key, changes and condition alike: a function may change what its
 * conditions name. An update may return the whole item if the function may read it.
 */
function updateGrants(
  { table, updates }: FunctionSpec,
  action: 'UpdateItem' | 'UpdateFields',
  partition: Partition,
  { tableArn }: ITableV2,
) {
  const returnsNothing = action === 'UpdateFields'
  if (returnsNothing && table.UpdateItem?.includes(partition)) return []
  return allow([iamAction(action)], [tableArn], {
    ...ofFields([partition], updates[partition]),
    ...(returnsNothing && { StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' } }),
  })
}

/** The last condition refuses a request without a key or without names of attributes. */
function ofFields(partitions: readonly Partition[], fields: readonly string[] = []) {
  return {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions.map(anyKeyOf) },
    'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', ...fields] },
    Null: { 'dynamodb:LeadingKeys': 'false', 'dynamodb:Attributes': 'false' },
  }
}

function anyKeyOf(partition: Partition) {
  return `${pkPrefix(partition)}*`
}

function secretOf(access: SecretAccess, { provider }: DataStack) {
  return { 'read-provider': provider.key, 'read-callback-tokens': provider.callbackTokens }[access]
    .secretArn
}

function triggerGrants({ trigger }: FunctionSpec, { queues }: DataStack) {
  switch (trigger.kind) {
    case 'queue':
      return allow(
        ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
        queuesOf(trigger).map(({ queue }) => queues.byName[queue].queueArn),
      )
    case 'schedule':
      return allow(['sqs:SendMessage'], [queues.deadRuns.queueArn])
    // The function's own policy allows API Gateway and EventBridge; operators'
    // policies allow operators.
    case 'http':
    case 'http-default':
    case 'operator':
      return []
  }
}

/** Never directly, only through the services that the entry uses. */
function keyGrants(spec: FunctionSpec, key: IKey | undefined) {
  return key === undefined
    ? []
    : Object.entries(keyUses(spec)).flatMap(([service, actions]) =>
        allow([...new Set(actions)], [key.keyArn], {
          StringEquals: { 'kms:ViaService': `${service}.${Stack.of(key).region}.amazonaws.com` },
        }),
      )
}

type Service = 'dynamodb' | 'sqs' | 'sns' | 'secretsmanager'

const READ = ['kms:Decrypt']
/** A sender gets a data key, or reads a data key that it uses again. */
const SEND = ['kms:GenerateDataKey', 'kms:Decrypt']

function keyUses(spec: FunctionSpec): Readonly<Record<Service, readonly string[]>> {
  return {
    dynamodb: tableUses(spec),
    sqs: [...(isSender(spec) ? SEND : []), ...(spec.trigger.kind === 'queue' ? READ : [])],
    sns: spec.alerts ? SEND : [],
    secretsmanager: spec.secrets.length > 0 ? READ : [],
  }
}

const READ_TABLE = ['kms:Decrypt', 'kms:DescribeKey']
const WRITE_TABLE = [
  ...READ_TABLE,
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
]

const WRITES: readonly TableAction[] = ['PutItem', 'UpdateItem', 'UpdateFields', 'DeleteItem']

function tableUses({ table }: FunctionSpec) {
  if (WRITES.some((action) => table[action])) return WRITE_TABLE
  const reads = table.indexes !== undefined || TABLE_ACTIONS.some((action) => table[action])
  return reads ? READ_TABLE : []
}

/** The code sends messages, or Lambda sends failed runs in the function's name. */
function isSender({ sends, trigger: { kind } }: FunctionSpec) {
  return sends.length > 0 || kind === 'schedule'
}

const SEALS = { seal: 'kms:Encrypt', unseal: 'kms:Decrypt' } as const

const NO_OWNER = { clientId: '', endpointId: '' }

/**
 * Lets a function seal or unseal endpoints' secrets. Only the context of these secrets is allowed,
 * so the function cannot read other data that the key encrypts.
 */
function sealGrants({ endpointSecrets }: FunctionSpec, key: IKey, stage: string) {
  return endpointSecrets === undefined
    ? []
    : allow([SEALS[endpointSecrets]], [key.keyArn], {
        StringEquals: { 'kms:EncryptionContext:stage': stage },
        'ForAllValues:StringEquals': {
          'kms:EncryptionContextKeys': Object.keys(sealContext(stage, NO_OWNER)),
        },
        Null: {
          'kms:EncryptionContext:client': 'false',
          'kms:EncryptionContext:endpoint': 'false',
        },
      })
}
