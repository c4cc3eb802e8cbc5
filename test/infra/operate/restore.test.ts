/**
 * Goal: a restore makes the next table complete, and makes none for a stage that takes traffic. Method: the commands that
 * the tool sends to DynamoDB are compared. The mock answers in the order in which AWS does.
 */
import * as aws from '@aws-sdk/client-dynamodb'
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkTable } from '../../../infra/operate/doctor/examine-stage.ts'
import { runRestore } from '../../../infra/operate/restore/run-restore.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { awsRefusal, mocked, printedBy } from './around-tools.ts'

const prod = deployedStage('prod')
let stage = prod
function stageIs(role: 'open' | 'closed', generation: number): void {
  stage = { ...prod, role, deployment: 'alias-only', table: { ...prod.table, generation } }
}

const dynamodb = mocked(aws.DynamoDBClient)
const lambda = mocked(LambdaClient)

const LIMITS = { MaxReadRequestUnits: 20_000, MaxWriteRequestUnits: 20_000 }
const INDEXES = Object.keys(TABLE_SCHEMA.indexes)

const AT = '2026-11-20T04:00:00Z'

/** As DynamoDB describes it after a restore. */
const BARE = {
  TableName: 'gateway-prod-2',
  TableArn: 'arn:aws:dynamodb:ap-southeast-3:000000000000:table/gateway-prod-2',
  TableStatus: 'ACTIVE',
  GlobalSecondaryIndexes: INDEXES.map((IndexName) => ({
    IndexName,
    IndexStatus: 'ACTIVE' as const,
  })),
} as const

/** With all that the stage asks for. */
const COMPLETE = {
  ...BARE,
  DeletionProtectionEnabled: true,
  OnDemandThroughput: LIMITS,
  RestoreSummary: { RestoreDateTime: new Date(AT), RestoreInProgress: false },
  GlobalSecondaryIndexes: BARE.GlobalSecondaryIndexes.map((index) => ({
    ...index,
    OnDemandThroughput: LIMITS,
  })),
}

const TAGS = [
  { Key: 'service', Value: 'payment-gateway' },
  { Key: 'stage', Value: 'prod' },
]

function tableIs(Table: typeof BARE | typeof COMPLETE) {
  const enabled = Table === COMPLETE ? ('ENABLED' as const) : ('DISABLED' as const)
  const TimeToLiveDescription = { TimeToLiveStatus: enabled, AttributeName: 'ttl' }
  const PointInTimeRecoveryDescription = {
    PointInTimeRecoveryStatus: enabled,
    RecoveryPeriodInDays: 35,
  }
  const ContinuousBackupsDescription = {
    ContinuousBackupsStatus: 'ENABLED' as const,
    PointInTimeRecoveryDescription,
  }
  dynamodb.on(aws.DescribeTableCommand).resolves({ Table })
  dynamodb.on(aws.DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription })
  dynamodb.on(aws.DescribeContinuousBackupsCommand).resolves({ ContinuousBackupsDescription })
  dynamodb.on(aws.ListTagsOfResourceCommand).resolves({ Tags: Table === COMPLETE ? TAGS : [] })
}

beforeEach(() => {
  stageIs('closed', 1)
  tableIs(BARE)
  // The next generation is not there yet, the first time it is asked for.
  dynamodb
    .on(aws.DescribeTableCommand)
    .rejectsOnce(awsRefusal('ResourceNotFoundException'))
    .resolvesOnce({ Table: { ...BARE, TableStatus: 'CREATING' } })
    .resolves({ Table: BARE })
  lambda
    .on(GetFunctionConfigurationCommand)
    .resolves({ Environment: { Variables: { GATEWAY_SETTINGS: '{"isClosed":true}' } } })
})

async function restore(...argv: readonly string[]) {
  const slept: number[] = []
  const sleep = async (ms: number) => void slept.push(ms)
  const io = { env: { AWS_REGION: 'ap-southeast-3' }, stageNamed: () => stage, sleep }
  return { ...(await printedBy(() => runRestore(['--stage', 'prod', ...argv], io))), slept }
}

function sent() {
  return dynamodb
    .calls()
    .map(
      ({ args: [command] }) =>
        [command.constructor.name.replace(/Command$/, ''), command.input] as const,
    )
    .filter(([name]) => /^(Restore|Update|Tag|Create|Delete)/.test(name))
}

describe('npm run restore', () => {
  it('restores the table in use as the next one, under the stage’s key, and gives it what a restore does not carry', async () => {
    const { code, text, slept } = await restore('--at', AT)

    expect([code, slept]).toStrictEqual([0, [10_000]])
    const TableName = 'gateway-prod-2'
    const PointInTimeRecoverySpecification = {
      PointInTimeRecoveryEnabled: true,
      RecoveryPeriodInDays: 35,
    }
    expect(sent()).toStrictEqual([
      [
        'RestoreTableToPointInTime',
        {
          SourceTableName: 'gateway-prod',
          TargetTableName: TableName,
          RestoreDateTime: new Date(AT),
          SSESpecificationOverride: {
            Enabled: true,
            SSEType: 'KMS',
            KMSMasterKeyId: 'alias/gateway-prod',
          },
        },
      ],
      ['UpdateTable', { TableName, DeletionProtectionEnabled: true }],
      ['UpdateTable', { TableName, OnDemandThroughput: LIMITS }],
      ...INDEXES.map((IndexName) => [
        'UpdateTable',
        {
          TableName,
          GlobalSecondaryIndexUpdates: [{ Update: { IndexName, OnDemandThroughput: LIMITS } }],
        },
      ]),
      [
        'UpdateTimeToLive',
        { TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' } },
      ],
      ['UpdateContinuousBackups', { TableName, PointInTimeRecoverySpecification }],
      ['TagResource', { ResourceArn: BARE.TableArn, Tags: TAGS }],
    ])
    expect(text).toContain('set "generation": 2')
  })

  it('restores a backup in the same way, and warms the table and its indexes as the stage says', async () => {
    stage = { ...stage, table: { ...stage.table, warm: { readUnits: 20_000, writeUnits: 8_000 } } }

    await restore('--backup', 'arn:one')

    const TargetTableName = 'gateway-prod-2'
    expect(sent()[0]).toMatchObject([
      'RestoreTableFromBackup',
      { BackupArn: 'arn:one', TargetTableName },
    ])
    expect(JSON.stringify(sent()).match(/"WriteUnitsPerSecond":8000/g)).toHaveLength(
      1 + INDEXES.length,
    )
  })

  it('goes on with a table that an earlier call began, and puts nothing twice', async () => {
    tableIs(COMPLETE)

    expect([(await restore('--at', AT)).code, sent()]).toStrictEqual([0, []])
  })

  it.each([
    [{ RestoreDateTime: new Date('2026-11-20T04:00:00.250Z') }, 0],
    // No restore made it: another stage's table, for example.
    [undefined, 1],
    [{ RestoreDateTime: new Date('2026-11-20T03:00:00Z') }, 1],
    [{ RestoreDateTime: new Date(AT), SourceBackupArn: 'arn:one' }, 0],
  ])('does not go on with a table that is no copy of that time: %j', async (summary, expected) => {
    const RestoreSummary = summary && { ...summary, RestoreInProgress: false }
    dynamodb.on(aws.DescribeTableCommand).resolves({ Table: { ...BARE, RestoreSummary } })

    expect((await restore('--at', AT)).code).toBe(expected)
    expect((await restore('--backup', 'arn:one')).code).toBe(
      summary && 'SourceBackupArn' in summary ? 0 : 1,
    )
    expect(sent().map(([name]) => name)).not.toContain('RestoreTableToPointInTime')
  })

  it('refuses while the stage’s file says open, or its functions are open still', async () => {
    lambda.on(GetFunctionConfigurationCommand).resolves({ Environment: { Variables: {} } })
    const still = await restore('--at', AT)
    stageIs('open', 1)
    const open = await restore('--at', AT)

    expect([still.code, open.code, sent()]).toStrictEqual([1, 1, []])
    const asked = lambda
      .commandCalls(GetFunctionConfigurationCommand)
      .map(({ args: [{ input }] }) => input.FunctionName)
    expect(asked).toStrictEqual(['gateway-prod-api-create-payment:live'])
    expect(still.text).toBe('prod still takes traffic: deploy it closed')
    expect(open.text).toContain('"role": "closed"')
  })

  it.each([
    [
      'try again',
      () => dynamodb.on(aws.UpdateContinuousBackupsCommand),
      'ContinuousBackupsUnavailableException',
    ],
    [
      'check AWS_REGION',
      () => lambda.on(GetFunctionConfigurationCommand),
      'ResourceNotFoundException',
    ],
  ])(
    'says to %s and then repeat the command, where AWS refuses a step',
    async (todo, step, error) => {
      step().rejects(awsRefusal(error))

      const { code, text } = await restore('--at', AT)

      expect(code).toBe(1)
      expect(text).toMatch(
        new RegExp(`${error}: ${todo}.*\\. Run the same command again to continue\\.`),
      )
    },
  )

  it('finishes a table that was restored by other means, open or closed', async () => {
    stageIs('open', 2)
    dynamodb.on(aws.DescribeTableCommand).resolves({ Table: BARE })

    expect((await restore('--finish')).code).toBe(0)
    expect(sent().map(([name]) => name)).not.toContain('RestoreTableToPointInTime')
    expect(sent()).toContainEqual([
      'UpdateTable',
      { TableName: 'gateway-prod-2', DeletionProtectionEnabled: true },
    ])
  })

  it.each([
    [[], 'give one of --at TIME, --backup ARN and --finish'],
    [['--at', AT, '--finish'], 'give one of --at TIME, --backup ARN and --finish'],
    [['--at', 'yesterday'], '--at must be an RFC 3339 time'],
  ])('called with %j says how', async (argv, message) => {
    const { code, text } = await restore(...argv)

    expect([code, sent()]).toStrictEqual([2, []])
    expect(text).toContain(message)
  })
})

describe('the doctor', () => {
  const client = new aws.DynamoDBClient({ region: 'ap-southeast-3' })

  it('looks at a restored table itself, because the stack does not contain it', async () => {
    stageIs('open', 2)
    tableIs(COMPLETE)
    expect(await checkTable(client, stage)).toMatchObject([
      { what: 'table gateway-prod-2', state: 'ok' },
    ])

    dynamodb
      .on(aws.DescribeTimeToLiveCommand)
      .resolves({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } })
    expect(await checkTable(client, stage)).toMatchObject([
      { state: 'wrong', detail: 'lacks: expiry of items' },
    ])
  })

  it('finds a stage that is closed', async () => {
    expect(await checkTable(client, stage)).toMatchObject([{ what: 'role', state: 'wrong' }])
  })
})
