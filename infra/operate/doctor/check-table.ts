import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { pointedTo, type StageTemplate } from '../../stack/stage-template.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { deployedResourceId } from '../check/deployed-stack.ts'
import { type Finding, wrong } from '../check/finding.ts'
import { look, unlessAbsent } from '../check/look.ts'
import { compareSettings } from './compare.ts'
import { compareTable, TableProperties } from './compare-table.ts'

/** The table against the synthesised one: keys, indexes, stream, protection, encryption, limits, recovery, expiry. */
export const checkTable = async (
  { dynamodb, cloudFormation }: Pick<AwsClients, 'dynamodb' | 'cloudFormation'>,
  { ofType, stackName }: Pick<StageTemplate, 'ofType' | 'stackName'>,
): Promise<readonly Finding[]> => {
  const findings = await Promise.all(
    ofType('AWS::DynamoDB::GlobalTable').map(async ({ properties }) => {
      const expected = v.parse(TableProperties, properties)
      const { TableName } = expected
      const found = await unlessAbsent(
        ['ResourceNotFoundException'],
        dynamodb.send(new DescribeTableCommand({ TableName })),
      )
      if (!found?.Table) return [wrong(`table ${TableName}`, 'is missing', RESTORE)]
      const logicalId = pointedTo(expected.Replicas[0].SSESpecification?.KMSMasterKeyId)
      const keyId =
        logicalId === undefined ? undefined : await deployedResourceId(cloudFormation, { stackName, logicalId })
      return [
        compareTable(expected, found.Table, keyId),
        ...(await look('point-in-time recovery', () => checkRecovery(dynamodb, expected))),
        ...(await look('expiry of items', () => checkExpiry(dynamodb, expected))),
      ]
    }),
  )
  return findings.flat()
}

const RESTORE = 'docs/operations.md, "7. Restoring the table in place"'

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
