import * as aws from '@aws-sdk/client-dynamodb'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { RECOVERY_DAYS } from '../../stack/storage/gateway-table.ts'

/** A setting of the stage's table that a restore does not carry, and that is not as the stage says. */
export type MissingSetting = { readonly what: string; readonly put: () => Promise<unknown> }

type Wanted = {
  readonly client: aws.DynamoDBClient
  readonly stage: DeployedStage
  readonly TableName: string
}

type Limits = aws.OnDemandThroughput | undefined

const hasLimits = (limits: Limits, { table }: DeployedStage): boolean =>
  limits?.MaxReadRequestUnits === table.maxReadUnits && limits.MaxWriteRequestUnits === table.maxWriteUnits

const tagsOf = ({ settings }: DeployedStage) => [
  { Key: 'service', Value: 'payment-gateway' },
  { Key: 'stage', Value: settings.name },
]

/** What a table of the stage lacks, in the order in which it is put. Changes nothing by itself. */
export const missingSettings = async (wanted: Wanted): Promise<readonly MissingSetting[]> => {
  const { client, TableName } = wanted
  const [{ Table: table = {} }, { TimeToLiveDescription: expiry }, { ContinuousBackupsDescription: backups }] =
    await Promise.all([
      client.send(new aws.DescribeTableCommand({ TableName })),
      client.send(new aws.DescribeTimeToLiveCommand({ TableName })),
      client.send(new aws.DescribeContinuousBackupsCommand({ TableName })),
    ])
  const { Tags: tags = [] } = await client.send(new aws.ListTagsOfResourceCommand({ ResourceArn: table.TableArn }))
  return [
    ...protection(wanted, table),
    ...limits(wanted, table),
    ...expiryOf(wanted, expiry),
    ...recovery(wanted, backups?.PointInTimeRecoveryDescription),
    ...labels(wanted, table, tags),
  ]
}

const protection = ({ client, stage, TableName }: Wanted, table: aws.TableDescription): readonly MissingSetting[] =>
  stage.deletionProtection && table.DeletionProtectionEnabled !== true
    ? [
        {
          what: 'deletion protection',
          put: () => client.send(new aws.UpdateTableCommand({ TableName, DeletionProtectionEnabled: true })),
        },
      ]
    : []

/** Of the table and of each index: DynamoDB changes one of them at a time. */
const limits = ({ client, stage, TableName }: Wanted, table: aws.TableDescription): readonly MissingSetting[] => {
  const { maxReadUnits: MaxReadRequestUnits, maxWriteUnits: MaxWriteRequestUnits } = stage.table
  const OnDemandThroughput = { MaxReadRequestUnits, MaxWriteRequestUnits }
  const own = hasLimits(table.OnDemandThroughput, stage)
    ? []
    : [
        {
          what: 'most units of the table',
          put: () => client.send(new aws.UpdateTableCommand({ TableName, OnDemandThroughput })),
        },
      ]
  const indexes = (table.GlobalSecondaryIndexes ?? []).filter((index) => !hasLimits(index.OnDemandThroughput, stage))
  return [
    ...own,
    ...indexes.map(({ IndexName }) => ({
      what: `most units of ${IndexName ?? '?'}`,
      put: () => {
        const GlobalSecondaryIndexUpdates = [{ Update: { IndexName, OnDemandThroughput } }]
        return client.send(new aws.UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }))
      },
    })),
  ]
}

const expiryOf = (
  { client, TableName }: Wanted,
  expiry: aws.TimeToLiveDescription | undefined,
): readonly MissingSetting[] => {
  if (expiry?.TimeToLiveStatus?.startsWith('ENABL') === true && expiry.AttributeName === TABLE_SCHEMA.ttl) return []
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TABLE_SCHEMA.ttl }
  const command = new aws.UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification })
  return [{ what: 'expiry of items', put: () => client.send(command) }]
}

const recovery = (
  { client, TableName }: Wanted,
  now: aws.PointInTimeRecoveryDescription | undefined,
): readonly MissingSetting[] => {
  if (now?.PointInTimeRecoveryStatus === 'ENABLED' && now.RecoveryPeriodInDays === RECOVERY_DAYS) return []
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: RECOVERY_DAYS }
  const command = new aws.UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification })
  return [{ what: 'point-in-time recovery', put: () => client.send(command) }]
}

const labels = (
  { client, stage }: Wanted,
  { TableArn: ResourceArn }: aws.TableDescription,
  tags: readonly aws.Tag[],
): readonly MissingSetting[] => {
  const missing = tagsOf(stage).filter(({ Key, Value }) => !tags.some((tag) => tag.Key === Key && tag.Value === Value))
  if (missing.length === 0) return []
  return [{ what: 'tags', put: () => client.send(new aws.TagResourceCommand({ ResourceArn, Tags: missing })) }]
}
