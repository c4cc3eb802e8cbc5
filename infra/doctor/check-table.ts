import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { type Finding, wrong } from '../check/finding.ts'
import { look, unlessAbsent } from '../check/look.ts'
import type { StageTemplate } from '../stage-template.ts'
import { compareSettings } from './compare.ts'

const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.string() }))

const TableProperties = v.object({
  TableName: v.string(),
  BillingMode: v.string(),
  KeySchema,
  GlobalSecondaryIndexes: v.array(
    v.object({
      IndexName: v.string(),
      KeySchema,
      Projection: v.object({ ProjectionType: v.string(), NonKeyAttributes: v.optional(v.array(v.string()), []) }),
    }),
  ),
  StreamSpecification: v.object({ StreamViewType: v.string() }),
  TimeToLiveSpecification: v.object({ AttributeName: v.string() }),
  SSESpecification: v.object({ SSEEnabled: v.boolean() }),
  WriteOnDemandThroughputSettings: v.optional(v.object({ MaxWriteRequestUnits: v.optional(v.number()) })),
  Replicas: v.tuple([
    v.object({
      DeletionProtectionEnabled: v.optional(v.boolean(), false),
      PointInTimeRecoverySpecification: v.object({ PointInTimeRecoveryEnabled: v.boolean() }),
      ReadOnDemandThroughputSettings: v.optional(v.object({ MaxReadRequestUnits: v.optional(v.number()) })),
    }),
  ]),
})
type TableProperties = v.InferOutput<typeof TableProperties>

/** The table against the synthesised one: keys, indexes, stream, protection, encryption, recovery, expiry. */
export const checkTable = async (
  client: DynamoDBClient,
  template: Pick<StageTemplate, 'ofType'>,
): Promise<readonly Finding[]> => {
  const findings = await Promise.all(
    template.ofType('AWS::DynamoDB::GlobalTable').map(async ({ properties }) => {
      const expected = v.parse(TableProperties, properties)
      const TableName = expected.TableName
      const found = await unlessAbsent(
        ['ResourceNotFoundException'],
        client.send(new DescribeTableCommand({ TableName })),
      )
      if (!found?.Table) return [wrong(`table ${TableName}`, 'is missing', 'docs/operations.md, "Restore the table"')]
      return [
        compareTable(expected, found.Table),
        ...(await look('point-in-time recovery', () => checkRecovery(client, expected))),
        ...(await look('expiry of items', () => checkExpiry(client, expected))),
      ]
    }),
  )
  return findings.flat()
}

/** DynamoDB's word for "no limit". */
const limit = (units: number | undefined) => (units === -1 ? undefined : units)

const compareTable = (expected: TableProperties, table: TableDescription): Finding =>
  compareSettings(
    `table ${expected.TableName}`,
    [
      ['status', 'ACTIVE', table.TableStatus],
      ['billing', expected.BillingMode, table.BillingModeSummary?.BillingMode],
      ['keys', keysOf(expected.KeySchema), keysOf(table.KeySchema)],
      ['indexes', expected.GlobalSecondaryIndexes.map(indexOf).toSorted(), indexesOf(table)],
      ['stream', expected.StreamSpecification.StreamViewType, table.StreamSpecification?.StreamViewType],
      ['deletion protection', expected.Replicas[0].DeletionProtectionEnabled, table.DeletionProtectionEnabled ?? false],
      ['encryption with a KMS key', expected.SSESpecification.SSEEnabled, table.SSEDescription?.Status === 'ENABLED'],
      [
        'most write units',
        expected.WriteOnDemandThroughputSettings?.MaxWriteRequestUnits,
        limit(table.OnDemandThroughput?.MaxWriteRequestUnits),
      ],
      [
        'most read units',
        expected.Replicas[0].ReadOnDemandThroughputSettings?.MaxReadRequestUnits,
        limit(table.OnDemandThroughput?.MaxReadRequestUnits),
      ],
    ],
    'keys, indexes, stream, protection, encryption and limits as synthesised',
  )

type Keys = readonly { readonly AttributeName?: string | undefined; readonly KeyType?: string | undefined }[]

const keysOf = (keys: Keys | undefined) =>
  (keys ?? []).map(({ AttributeName, KeyType }) => `${KeyType ?? '?'} ${AttributeName ?? '?'}`).join(', ')

type Index = {
  readonly IndexName?: string | undefined
  readonly KeySchema?: Keys | undefined
  readonly Projection?: { readonly ProjectionType?: string; readonly NonKeyAttributes?: readonly string[] } | undefined
}

const indexOf = ({ IndexName, KeySchema: keys, Projection }: Index) =>
  `${IndexName ?? '?'} (${keysOf(keys)}) ${[Projection?.ProjectionType, ...(Projection?.NonKeyAttributes ?? []).toSorted()].join(' ')}`

const indexesOf = (table: TableDescription) =>
  (table.GlobalSecondaryIndexes ?? [])
    .map((index) => `${indexOf(index)}${index.IndexStatus === 'ACTIVE' ? '' : ` ${index.IndexStatus ?? ''}`}`)
    .toSorted()

const checkRecovery = async (client: DynamoDBClient, { TableName, Replicas: [replica] }: TableProperties) => {
  const { ContinuousBackupsDescription: backups } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  )
  const recovery = backups?.PointInTimeRecoveryDescription
  return compareSettings(
    'point-in-time recovery',
    [
      [
        'it',
        replica.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled ? 'ENABLED' : 'DISABLED',
        recovery?.PointInTimeRecoveryStatus,
      ],
    ],
    `back to ${recovery?.EarliestRestorableDateTime?.toISOString() ?? '?'}`,
  )
}

const checkExpiry = async (client: DynamoDBClient, { TableName, TimeToLiveSpecification }: TableProperties) => {
  const { TimeToLiveDescription: found } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
  return compareSettings(
    'expiry of items',
    [
      ['it', 'ENABLED', found?.TimeToLiveStatus],
      ['attribute', TimeToLiveSpecification.AttributeName, found?.AttributeName],
    ],
    `by attribute ${TimeToLiveSpecification.AttributeName}`,
  )
}
