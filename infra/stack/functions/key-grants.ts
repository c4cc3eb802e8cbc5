import { Stack } from 'aws-cdk-lib'
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { sealContext } from '../../../shared/secrets.ts'
import { TABLE_ACTIONS, type TableAction } from '../../../shared/table/access.ts'
import { allow } from './allow.ts'

/** The services that use the key in a function's name. */
type Service = 'dynamodb' | 'sqs' | 'sns' | 'secretsmanager'

const READ = ['kms:Decrypt']
/** A sender gets a data key, and reads the one it may use again. */
const SEND = ['kms:GenerateDataKey', 'kms:Decrypt']
const READ_TABLE = ['kms:Decrypt', 'kms:DescribeKey']
const WRITE_TABLE = [...READ_TABLE, 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo']

const SEALS = { seal: 'kms:Encrypt', unseal: 'kms:Decrypt' } as const

/**
 * To seal secrets of endpoints, or to unseal them, by its own calls: under their context alone, so that nothing else that
 * the key encrypts can be read by it.
 */
export const sealGrants = ({ endpointSecrets }: FunctionSpec, key: IKey, stage: string): PolicyStatement[] =>
  endpointSecrets === undefined
    ? []
    : allow([SEALS[endpointSecrets]], [key.keyArn], {
        StringEquals: { 'kms:EncryptionContext:stage': stage },
        'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': Object.keys(sealContext(stage, NO_OWNER)) },
        Null: { 'kms:EncryptionContext:client': 'false', 'kms:EncryptionContext:endpoint': 'false' },
      })

const NO_OWNER = { clientId: '', endpointId: '' }

const WRITES: readonly TableAction[] = ['PutItem', 'UpdateItem', 'UpdateFields', 'DeleteItem']

/** What a function may have the stage's key do: nothing by itself, and only through services its entry uses. */
export const keyGrants = (spec: FunctionSpec, key: IKey | undefined): PolicyStatement[] =>
  key === undefined
    ? []
    : Object.entries(keyUses(spec)).flatMap(([service, actions]) =>
        allow([...new Set(actions)], [key.keyArn], {
          StringEquals: { 'kms:ViaService': `${service}.${Stack.of(key).region}.amazonaws.com` },
        }),
      )

const keyUses = (spec: FunctionSpec): Readonly<Record<Service, readonly string[]>> => ({
  dynamodb: tableUses(spec),
  sqs: [...(isSender(spec) ? SEND : []), ...(spec.trigger.kind === 'queue' ? READ : [])],
  sns: spec.alerts ? SEND : [],
  secretsmanager: spec.secrets.length > 0 ? READ : [],
})

const tableUses = ({ table }: FunctionSpec): readonly string[] => {
  if (WRITES.some((action) => table[action])) return WRITE_TABLE
  const reads = table.indexes !== undefined || TABLE_ACTIONS.some((action) => table[action])
  return reads ? READ_TABLE : []
}

/** By its own code, or by Lambda in its name when it gives up on what started it. */
const isSender = ({ sends, trigger: { kind } }: FunctionSpec): boolean => sends.length > 0 || kind === 'schedule'
