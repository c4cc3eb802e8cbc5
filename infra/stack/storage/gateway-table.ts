import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import type { Key } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { type IndexSchema, TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { type DeployedStage, tableNameOf } from '../stage.ts'

const ATTRIBUTE_TYPES: Readonly<Record<string, 'S' | 'N'>> = TABLE_SCHEMA.attributeTypes

/** The longest that DynamoDB allows. */
export const RECOVERY_DAYS = 35

/**
 * Makes the table, from the same schema as in the local gateway and the tests. Answers the table
 * that functions use: the stack's own table, or a restored table.
 */
export function gatewayTable(parent: Construct, id: string, stage: DeployedStage, key?: Key) {
  const scope = new Construct(parent, id)
  const { adopted } = stage.table
  const { warmThroughput, ...maximum } = throughputOf(stage)
  const table = new dynamodb.TableV2(scope, adopted === 1 ? 'Table' : `Table${adopted}`, {
    tableName: tableNameOf(stage, adopted),
    partitionKey: keyAttribute(TABLE_SCHEMA.partitionKey),
    sortKey: keyAttribute(TABLE_SCHEMA.sortKey),
    globalSecondaryIndexes: Object.entries(TABLE_SCHEMA.indexes).map(([name, index]) =>
      globalIndex(name, index, stage),
    ),
    billing: dynamodb.Billing.onDemand(maximum),
    ...(warmThroughput && { warmThroughput }),
    timeToLiveAttribute: TABLE_SCHEMA.ttl,
    pointInTimeRecoverySpecification: {
      pointInTimeRecoveryEnabled: true,
      recoveryPeriodInDays: RECOVERY_DAYS,
    },
    encryption: key
      ? dynamodb.TableEncryptionV2.awsManagedKey()
      : dynamodb.TableEncryptionV2.dynamoOwnedKey(),
    deletionProtection: stage.deletionProtection,
    removalPolicy: stage.removalPolicy,
  })
  if (key) encryptWith(table, key.keyArn)
  return dynamodb.TableV2.fromTableName(scope, 'ByName', tableNameOf(stage))
}

/** DynamoDB limits table and indexes each. */
function throughputOf({ table: { maxReadUnits, maxWriteUnits, warm } }: DeployedStage) {
  return {
    maxReadRequestUnits: maxReadUnits,
    maxWriteRequestUnits: maxWriteUnits,
    ...(warm && {
      warmThroughput: { readUnitsPerSecond: warm.readUnits, writeUnitsPerSecond: warm.writeUnits },
    }),
  }
}

/** Throws if the schema does not declare it. */
function keyAttribute(name: string): dynamodb.Attribute {
  const type = ATTRIBUTE_TYPES[name]
  if (type === undefined) throw new Error(`key attribute ${name} has no type in the table's schema`)
  return {
    name,
    type: type === 'N' ? dynamodb.AttributeType.NUMBER : dynamodb.AttributeType.STRING,
  }
}

function globalIndex(
  indexName: string,
  index: IndexSchema,
  stage: DeployedStage,
): dynamodb.GlobalSecondaryIndexPropsV2 {
  return {
    indexName,
    partitionKeys: index.partition.map(keyAttribute),
    sortKeys: index.sort.map(keyAttribute),
    projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    ...throughputOf(stage),
  }
}

/** The construct accepts a key only in a stack with a fixed region. */
function encryptWith(table: dynamodb.TableV2, keyArn: string) {
  const { defaultChild } = table.node
  if (!(defaultChild instanceof dynamodb.CfnGlobalTable))
    throw new Error('the table has no resource to encrypt')
  defaultChild.addPropertyOverride('Replicas.0.SSESpecification', { KMSMasterKeyId: keyArn })
}
