import type { TableDescription } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import type { Finding } from '../check/finding.ts'
import { compareSettings } from './compare.ts'

const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.string() }))

const MostWrites = v.optional(v.object({ MaxWriteRequestUnits: v.optional(v.number()) }))
const MostReads = v.optional(v.object({ MaxReadRequestUnits: v.optional(v.number()) }))

/** What the template says of the table. */
export const TableProperties = v.object({
  TableName: v.string(),
  BillingMode: v.string(),
  KeySchema,
  GlobalSecondaryIndexes: v.array(
    v.object({
      IndexName: v.string(),
      KeySchema,
      Projection: v.object({ ProjectionType: v.string(), NonKeyAttributes: v.optional(v.array(v.string()), []) }),
      WriteOnDemandThroughputSettings: MostWrites,
    }),
  ),
  StreamSpecification: v.object({ StreamViewType: v.string() }),
  TimeToLiveSpecification: v.object({ AttributeName: v.string() }),
  SSESpecification: v.object({ SSEEnabled: v.boolean() }),
  WriteOnDemandThroughputSettings: MostWrites,
  Replicas: v.tuple([
    v.object({
      DeletionProtectionEnabled: v.optional(v.boolean(), false),
      PointInTimeRecoverySpecification: v.object({ PointInTimeRecoveryEnabled: v.boolean() }),
      SSESpecification: v.optional(v.object({ KMSMasterKeyId: v.unknown() })),
      ReadOnDemandThroughputSettings: MostReads,
      GlobalSecondaryIndexes: v.optional(
        v.array(v.object({ IndexName: v.string(), ReadOnDemandThroughputSettings: MostReads })),
        [],
      ),
    }),
  ]),
})
export type TableProperties = v.InferOutput<typeof TableProperties>

/** DynamoDB's word for "no limit". */
const limit = (units: number | undefined) => (units === -1 ? undefined : units)

/** The table as AWS describes it against the template; `keyId` is the key that the stack made, where it made one. */
export const compareTable = (expected: TableProperties, table: TableDescription, keyId: string | undefined): Finding =>
  compareSettings(
    `table ${expected.TableName}`,
    [
      ['status', 'ACTIVE', table.TableStatus],
      ['billing', expected.BillingMode, table.BillingModeSummary?.BillingMode],
      ['keys', keysOf(expected.KeySchema), keysOf(table.KeySchema)],
      ['indexes', expectedIndexes(expected), indexesOf(table)],
      ['stream', expected.StreamSpecification.StreamViewType, table.StreamSpecification?.StreamViewType],
      ['deletion protection', expected.Replicas[0].DeletionProtectionEnabled, table.DeletionProtectionEnabled ?? false],
      ['encryption with a KMS key', expected.SSESpecification.SSEEnabled, table.SSEDescription?.Status === 'ENABLED'],
      ['KMS key', keyId, table.SSEDescription?.KMSMasterKeyArn?.split('/').at(-1)],
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

const mostOf = (reads: number | undefined, writes: number | undefined) =>
  `at most ${limit(reads) ?? 'any'} reads, ${limit(writes) ?? 'any'} writes`

const expectedIndexes = ({ GlobalSecondaryIndexes: indexes, Replicas: [replica] }: TableProperties) =>
  indexes
    .map((index) => {
      const reads = replica.GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === index.IndexName)
      return `${indexOf(index)}, ${mostOf(reads?.ReadOnDemandThroughputSettings?.MaxReadRequestUnits, index.WriteOnDemandThroughputSettings?.MaxWriteRequestUnits)}`
    })
    .toSorted()

const indexesOf = (table: TableDescription) =>
  (table.GlobalSecondaryIndexes ?? [])
    .map((index) => {
      const most = mostOf(index.OnDemandThroughput?.MaxReadRequestUnits, index.OnDemandThroughput?.MaxWriteRequestUnits)
      return `${indexOf(index)}, ${most}${index.IndexStatus === 'ACTIVE' ? '' : ` ${index.IndexStatus ?? ''}`}`
    })
    .toSorted()
