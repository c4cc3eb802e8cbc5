import * as aws from '@aws-sdk/client-dynamodb'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { type DeployedStage, stackNameOf, tableNameOf } from '../../stack/stage.ts'
import { tagsOf } from '../../stack/stage-stack.ts'
import { RECOVERY_DAYS } from '../../stack/storage/gateway-table.ts'
import { encryptsAll } from '../../stack/storage/stage-key.ts'
import { unlessAbsent } from '../check/finding.ts'

type Throughput = Pick<aws.TableDescription, 'OnDemandThroughput' | 'WarmThroughput'>

/** A table to compare with the stage's file. */
export type TargetTable = {
  readonly client: aws.DynamoDBClient
  readonly stage: DeployedStage
  readonly TableName: string
}

type Setting = readonly [what: string, isSet: boolean, put: () => Promise<unknown>]

/** What a restore omits and the stage's file sets, in the order of the repair. Changes nothing. */
export async function missingSettings(target: TargetTable) {
  const { client, stage, TableName } = target
  const { table, isEncrypted, expiry, recovery, tags } = await readSettings(target)
  const update = (change: Omit<aws.UpdateTableInput, 'TableName'>) => () =>
    client.send(new aws.UpdateTableCommand({ TableName, ...change }))
  const limits = {
    MaxReadRequestUnits: stage.table.maxReadUnits,
    MaxWriteRequestUnits: stage.table.maxWriteUnits,
  }
  const hasLimits = ({ OnDemandThroughput: current }: Throughput) =>
    current?.MaxReadRequestUnits === limits.MaxReadRequestUnits &&
    current.MaxWriteRequestUnits === limits.MaxWriteRequestUnits
  const { warm } = stage.table
  const WarmThroughput = warm && {
    ReadUnitsPerSecond: warm.readUnits,
    WriteUnitsPerSecond: warm.writeUnits,
  }
  const isWarm = ({ WarmThroughput: current }: Throughput) =>
    !warm ||
    ((current?.ReadUnitsPerSecond ?? 0) >= warm.readUnits &&
      (current?.WriteUnitsPerSecond ?? 0) >= warm.writeUnits)
  const expires =
    expiry?.TimeToLiveStatus?.startsWith('ENABL') === true &&
    expiry.AttributeName === TABLE_SCHEMA.ttl
  const recovers =
    recovery?.PointInTimeRecoveryStatus === 'ENABLED' &&
    recovery.RecoveryPeriodInDays === RECOVERY_DAYS
  const Tags = Object.entries(tagsOf(stage))
    .map(([Key, Value]) => ({ Key, Value }))
    .filter(({ Key, Value }) => !tags.some((tag) => tag.Key === Key && tag.Value === Value))
  const settings: readonly Setting[] = [
    [
      'deletion protection',
      !stage.deletionProtection || table.DeletionProtectionEnabled === true,
      update({ DeletionProtectionEnabled: true }),
    ],
    [
      'encryption with the stage’s key',
      isEncrypted,
      update({ SSESpecification: encryptionOf(stage) }),
    ],
    ['most units of the table', hasLimits(table), update({ OnDemandThroughput: limits })],
    ['warm units of the table', isWarm(table), update({ WarmThroughput })],
    // DynamoDB changes only one of table and indexes at a time.
    ...(table.GlobalSecondaryIndexes ?? []).flatMap((index) => {
      const { IndexName = '?' } = index
      const change = (Update: object) =>
        update({ GlobalSecondaryIndexUpdates: [{ Update: { IndexName, ...Update } }] })
      return [
        [`most units of ${IndexName}`, hasLimits(index), change({ OnDemandThroughput: limits })],
        [`warm units of ${IndexName}`, isWarm(index), change({ WarmThroughput })],
      ] as const
    }),
    [
      'expiry of items',
      expires,
      () =>
        client.send(
          new aws.UpdateTimeToLiveCommand({
            TableName,
            TimeToLiveSpecification: { Enabled: true, AttributeName: TABLE_SCHEMA.ttl },
          }),
        ),
    ],
    [
      'point-in-time recovery',
      recovers,
      () =>
        client.send(
          new aws.UpdateContinuousBackupsCommand({
            TableName,
            PointInTimeRecoverySpecification: {
              PointInTimeRecoveryEnabled: true,
              RecoveryPeriodInDays: RECOVERY_DAYS,
            },
          }),
        ),
    ],
    [
      'tags',
      Tags.length === 0,
      () => client.send(new aws.TagResourceCommand({ ResourceArn: table.TableArn, Tags })),
    ],
  ]
  return settings.flatMap(([what, isSet, put]) => (isSet ? [] : [{ what, put }]))
}

/** Undefined: with DynamoDB's own key. */
export function encryptionOf(stage: DeployedStage): aws.SSESpecification | undefined {
  const KMSMasterKeyId = `alias/${stackNameOf(stage)}`
  return encryptsAll(stage) ? { Enabled: true, SSEType: 'KMS', KMSMasterKeyId } : undefined
}

async function readSettings({ client, stage, TableName }: TargetTable) {
  const ask = (name: string) => client.send(new aws.DescribeTableCommand({ TableName: name }))
  const [
    own,
    { Table: table = {} },
    { TimeToLiveDescription: expiry },
    { ContinuousBackupsDescription: backups },
  ] = await Promise.all([
    // The stack's own table, under the stage's key, if it is not lost.
    unlessAbsent(['ResourceNotFoundException'], ask(tableNameOf(stage, stage.table.adopted))),
    ask(TableName),
    client.send(new aws.DescribeTimeToLiveCommand({ TableName })),
    client.send(new aws.DescribeContinuousBackupsCommand({ TableName })),
  ])
  const { Tags: tags = [] } = await client.send(
    new aws.ListTagsOfResourceCommand({ ResourceArn: table.TableArn }),
  )
  const [key, expected] = [table, own?.Table ?? table].map(
    ({ SSEDescription }) => SSEDescription?.KMSMasterKeyArn,
  )
  return {
    table,
    isEncrypted: !encryptsAll(stage) || (key !== undefined && key === expected),
    expiry,
    recovery: backups?.PointInTimeRecoveryDescription,
    tags,
  }
}
