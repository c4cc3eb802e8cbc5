import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { awsRefusal } from '../../support/aws-refusal.ts'
import { type ExaminedStage, examinedStage } from '../../support/examined-stage.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'

let aws: ExaminedStage['aws']
let notOk: ExaminedStage['notOk']

beforeEach(async () => {
  ;({ aws, notOk } = await examinedStage())
})

describe('the doctor on the table', () => {
  it.each([
    ['deletion protection', { DeletionProtectionEnabled: false }],
    ['stream', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' as const } }],
    ['indexes', { GlobalSecondaryIndexes: [] }],
    ['billing', { BillingModeSummary: { BillingMode: 'PROVISIONED' as const } }],
    ['keys', { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' as const }] }],
    ['status', { TableStatus: 'UPDATING' as const }],
    ['most write units', { OnDemandThroughput: { MaxWriteRequestUnits: 7 } }],
    ['KMS key', { SSEDescription: { Status: 'ENABLED' as const, KMSMasterKeyArn: 'arn:aws:kms:r:1:key/another' } }],
  ])('sees a table whose %s is another', async (setting, changed) => {
    const { Table } = await awsClients('r').dynamodb.send(new DescribeTableCommand({ TableName: 'gateway-prod' }))
    aws.dynamodb.on(DescribeTableCommand).resolves({ Table: { ...Table, ...changed } })

    expect(await notOk()).toMatchObject([
      { what: 'table gateway-prod', state: 'wrong', detail: expect.stringContaining(`${setting} is `) },
    ])
  })

  it.each(['MaxReadRequestUnits', 'MaxWriteRequestUnits'])('sees an index without %s', async (units) => {
    const { Table } = await awsClients('r').dynamodb.send(new DescribeTableCommand({ TableName: 'gateway-prod' }))
    const indexes = (Table?.GlobalSecondaryIndexes ?? []).map((index) =>
      index.IndexName === 'by-due'
        ? { ...index, OnDemandThroughput: { ...index.OnDemandThroughput, [units]: -1 } }
        : index,
    )
    aws.dynamodb.on(DescribeTableCommand).resolves({ Table: { ...Table, GlobalSecondaryIndexes: indexes } })

    expect(await notOk()).toMatchObject([
      { what: 'table gateway-prod', state: 'wrong', detail: expect.stringMatching(/^indexes is .*at most .*any/) },
    ])
  })

  it('says where a table that is missing is restored from', async () => {
    aws.dynamodb.on(DescribeTableCommand).rejects(awsRefusal('ResourceNotFoundException'))
    const documented = readFileSync(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8')

    const [finding] = (await notOk()).filter(({ what }) => what === 'table gateway-prod')

    expect(finding).toMatchObject({ detail: 'is missing' })
    expect(documented).toContain(`## ${finding?.todo?.match(/"(.+)"/)?.[1] ?? 'no heading'}\n`)
  })

  it('sees that recovery or expiry is off, and what it may not look at', async () => {
    aws.dynamodb.on(DescribeContinuousBackupsCommand).rejects(awsRefusal('AccessDeniedException'))
    aws.dynamodb.on(DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } })

    expect(await notOk()).toMatchObject([
      { what: 'point-in-time recovery', state: 'unclear', detail: 'AccessDeniedException' },
      { what: 'expiry of items', state: 'wrong' },
    ])
  })
})
