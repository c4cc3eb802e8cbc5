import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import { Construct } from 'constructs'
import { type IndexSchema, TABLE_SCHEMA } from '../shared/table/schema.ts'
import type { DeployedStage } from './stage.ts'

const ATTRIBUTE_TYPES: Readonly<Record<string, 'S' | 'N'>> = TABLE_SCHEMA.attributeTypes

/** A key attribute with its declared type; one that the schema does not declare is a mistake in the schema. */
const attribute = (name: string): dynamodb.Attribute => {
  const type = ATTRIBUTE_TYPES[name]
  if (type === undefined) throw new Error(`key attribute ${name} has no type in the table's schema`)
  return { name, type: type === 'N' ? dynamodb.AttributeType.NUMBER : dynamodb.AttributeType.STRING }
}

const globalIndex = (indexName: string, index: IndexSchema): dynamodb.GlobalSecondaryIndexPropsV2 => ({
  indexName,
  partitionKeys: index.partition.map(attribute),
  sortKeys: index.sort.map(attribute),
  ...(index.include.length > 0
    ? { projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: [...index.include] }
    : { projectionType: dynamodb.ProjectionType.KEYS_ONLY }),
})

/** The one table, from the schema that the local gateway and the tests create theirs from. */
export class GatewayTable extends Construct {
  readonly table: dynamodb.TableV2

  constructor(scope: Construct, id: string, stage: DeployedStage) {
    super(scope, id)
    this.table = new dynamodb.TableV2(this, 'Table', {
      tableName: `gateway-${stage.settings.name}`,
      partitionKey: attribute(TABLE_SCHEMA.partitionKey),
      sortKey: attribute(TABLE_SCHEMA.sortKey),
      globalSecondaryIndexes: Object.entries(TABLE_SCHEMA.indexes).map(([name, index]) => globalIndex(name, index)),
      billing: dynamodb.Billing.onDemand(),
      dynamoStream: dynamodb.StreamViewType[TABLE_SCHEMA.stream],
      timeToLiveAttribute: TABLE_SCHEMA.ttl,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: dynamodb.TableEncryptionV2.dynamoOwnedKey(),
      deletionProtection: stage.deletionProtection,
      removalPolicy: stage.removalPolicy,
    })
  }
}
