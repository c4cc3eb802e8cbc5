/** Goal: a restore makes a complete next table, and no table for a stage that takes traffic. */
import * as aws from '@aws-sdk/client-dynamodb'
import * as functions from '@aws-sdk/client-lambda'
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { checkTable } from '../../../infra/operate/doctor/examine-stage.ts'
import { runRestore } from '../../../infra/operate/restore/run-restore.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { awsRefusal, captureOutput, mockOf } from './around-tools.ts'

const prod = deployedStage('prod')
let stage = prod
function stageIs(role: 'open' | 'closed', generation: number, warm?: typeof WARM) {
  stage = { ...prod, role, deployment: 'alias-only', table: { ...prod.table, generation, warm } }
}

const dynamodb = mockOf(aws.DynamoDBClient)
const documents = mockOf(DynamoDBDocumentClient)
const lambda = mockOf(functions.LambdaClient)

const WARM = { readUnits: 20_000, writeUnits: 8_000 }
const WarmThroughput = { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 8_000 }
const LIMITS = { MaxReadRequestUnits: 20_000, MaxWriteRequestUnits: 20_000 }
const INDEXES = Object.keys(TABLE_SCHEMA.indexes)

const AT = '2026-11-20T04:00:00.000Z'

const BARE = {
  TableName: 'gateway-prod-2',
  TableArn: 'arn:aws:dynamodb:ap-southeast-3:000000000000:table/gateway-prod-2',
  TableStatus: 'ACTIVE',
  SSEDescription: { KMSMasterKeyArn: 'arn:the-stage-key' },
  GlobalSecondaryIndexes: INDEXES.map((IndexName) => ({
    IndexName,
    IndexStatus: 'ACTIVE' as const,
  })),
} as const

const THROUGHPUT = { OnDemandThroughput: LIMITS, WarmThroughput }
const COMPLETE = {
  ...BARE,
  ...THROUGHPUT,
  DeletionProtectionEnabled: true,
  RestoreSummary: { RestoreDateTime: new Date(AT), RestoreInProgress: false },
  GlobalSecondaryIndexes: BARE.GlobalSecondaryIndexes.map((index) => ({ ...index, ...THROUGHPUT })),
}

const TAGS = [
  { Key: 'service', Value: 'payment-gateway' },
  { Key: 'stage', Value: 'prod' },
]

function tableIs(Table: typeof BARE | typeof COMPLETE) {
  const enabled = Table === COMPLETE ? 'ENABLED' : 'DISABLED'
  dynamodb.on(aws.DescribeTableCommand).resolves({ Table })
  dynamodb
    .on(aws.DescribeTimeToLiveCommand)
    .resolves({ TimeToLiveDescription: { TimeToLiveStatus: enabled, AttributeName: 'ttl' } })
  const ContinuousBackupsDescription = {
    ContinuousBackupsStatus: 'ENABLED',
    PointInTimeRecoveryDescription: {
      PointInTimeRecoveryStatus: enabled,
      RecoveryPeriodInDays: 35,
    },
  } as const
  dynamodb.on(aws.DescribeContinuousBackupsCommand).resolves({ ContinuousBackupsDescription })
  dynamodb.on(aws.ListTagsOfResourceCommand).resolves({ Tags: Table === COMPLETE ? TAGS : [] })
}

const CLOSED = {
  Environment: { Variables: { GATEWAY_SETTINGS: '{"isClosed":true}' } },
  EventSourceMappings: [{ State: 'Disabled' }],
}

beforeEach(() => {
  stageIs('closed', 1)
  tableIs(BARE)
  dynamodb
    .on(aws.DescribeTableCommand)
    .rejectsOnce(awsRefusal('ResourceNotFoundException'))
    .resolvesOnce({ Table: { ...BARE, TableStatus: 'CREATING' } })
    .resolves({ Table: BARE })
  lambda.onAnyCommand().resolves(CLOSED)
  documents.on(GetCommand).resolves({ Item: { position: AT, reversals_at: AT, round: 1 } })
  documents.on(UpdateCommand).resolves({})
})

async function restore(...argv: readonly string[]) {
  const slept: number[] = []
  const sleep = async (ms: number) => void slept.push(ms)
  const io = { env: { AWS_REGION: 'ap-southeast-3' }, stageNamed: () => stage, sleep }
  return { ...(await captureOutput(() => runRestore(['--stage', 'prod', ...argv], io))), slept }
}

function changes() {
  return dynamodb
    .calls()
    .map(
      ({ args: [command] }) =>
        [command.constructor.name.replace(/Command$/, ''), command.input] as const,
    )
    .filter(([name]) => /^(Restore|Update|Tag|Create|Delete)/.test(name))
}

describe('npm run restore', () => {
  it('restores the current table as the next table, under the stage’s key, and adds the settings that a restore loses', async () => {
    const { code, text, slept } = await restore('--at', AT)

    expect([code, slept]).toStrictEqual([0, [10_000]])
    const TableName = 'gateway-prod-2'
    expect(changes()).toStrictEqual([
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
      [
        'UpdateContinuousBackups',
        {
          TableName,
          PointInTimeRecoverySpecification: {
            PointInTimeRecoveryEnabled: true,
            RecoveryPeriodInDays: 35,
          },
        },
      ],
      ['TagResource', { ResourceArn: BARE.TableArn, Tags: TAGS }],
    ])
    expect(text).toMatch(/set "generation": 2.* deploy[^]*recount-ledger/)
    const updates = documents.commandCalls(UpdateCommand).map(({ args }) => args[0].input)
    const Key = { pk: 'VERDICT#gateway' }
    expect(updates).toMatchObject([
      { Key, UpdateExpression: 'SET #restored_at = :v0, #version = :v1 REMOVE #progress' },
      { ExpressionAttributeValues: { ':v0': '2026-11-19T04:00:00.000Z' } },
    ])
  })

  it('restores a backup in the same way, and warms the table and its indexes as the stage says', async () => {
    stageIs('closed', 1, WARM)

    await restore('--backup', 'arn:one')

    const TargetTableName = 'gateway-prod-2'
    expect(changes()[0]).toMatchObject([
      'RestoreTableFromBackup',
      { BackupArn: 'arn:one', TargetTableName },
    ])
    expect(JSON.stringify(changes()).match(/"WriteUnitsPerSecond":8000/g)).toHaveLength(
      1 + INDEXES.length,
    )
  })

  it('continues with a table of an earlier call, and changes nothing twice', async () => {
    tableIs(COMPLETE)

    expect([(await restore('--at', AT)).code, changes()]).toStrictEqual([0, []])
  })

  it.each([
    [{ RestoreDateTime: new Date('2026-11-20T04:00:00.250Z') }, 0],
    // No restore made the table: it belongs to another stage, for example.
    [undefined, 1],
    [{ RestoreDateTime: new Date('2026-11-20T03:00:00Z') }, 1],
    [{ RestoreDateTime: new Date(AT), SourceBackupArn: 'arn:one' }, 0],
  ])(
    'refuses to continue with a table that is no copy of that time: %j',
    async (summary, exitCode) => {
      const RestoreSummary = summary && { ...summary, RestoreInProgress: false }
      dynamodb.on(aws.DescribeTableCommand).resolves({ Table: { ...BARE, RestoreSummary } })

      expect((await restore('--at', AT)).code).toBe(exitCode)
      expect((await restore('--backup', 'arn:one')).code).toBe(
        summary && 'SourceBackupArn' in summary ? 0 : 1,
      )
      expect(changes().map(([name]) => name)).not.toContain('RestoreTableToPointInTime')
    },
  )

  it.each(MANIFEST.flatMap(({ name, trigger }) => (trigger.kind === 'operator' ? [] : name)))(
    'refuses while the stage’s file says open, %s is still open, or a queue starts it',
    async (name) => {
      const FunctionName = `gateway-prod-${name}:live`
      const { GetFunctionConfigurationCommand: Settings, ListEventSourceMappingsCommand: List } =
        functions
      lambda.on(Settings, { FunctionName }).resolvesOnce({ Environment: {} }).resolves(CLOSED)
      lambda
        .on(List, { FunctionName })
        .resolvesOnce(CLOSED)
        .resolves({ EventSourceMappings: [{ State: 'Enabled' }] })

      const refused = { code: 1, text: `${FunctionName} is still open: deploy prod closed` }
      for (let time = 0; time < 2; time++) expect(await restore('--at', AT)).toMatchObject(refused)
      stageIs('open', 1)
      const text = expect.stringContaining('"role": "closed"')
      expect(await restore('--at', AT)).toMatchObject({ code: 1, text })
      expect(changes()).toStrictEqual([])
    },
  )

  it.each([
    [
      'try again',
      () => dynamodb.on(aws.UpdateContinuousBackupsCommand),
      'ContinuousBackupsUnavailableException',
    ],
    [
      'give a time of the last 35 days, five minutes ago or earlier',
      () => dynamodb.on(aws.RestoreTableToPointInTimeCommand),
      'InvalidRestoreTimeException',
    ],
    ['check AWS_REGION', () => lambda.onAnyCommand(), 'ResourceNotFoundException'],
  ])('says to %s and to repeat the command when AWS refuses a step', async (todo, step, error) => {
    step().rejects(awsRefusal(error))

    const message = `${error}: ${todo}.*\\. Run the same command again to continue\\.`
    const text = expect.stringMatching(message)
    expect(await restore('--at', AT)).toMatchObject({ code: 1, text })
  })

  it('finishes a table that was restored by other means, open or closed, before the first sync', async () => {
    stageIs('open', 2)
    dynamodb.on(aws.DescribeTableCommand).resolves({ Table: BARE })
    documents.on(GetCommand).resolves({})

    expect((await restore('--finish')).text).toMatch(/ is as the stage’s file says$/)
    expect(changes().map(([name]) => name)).not.toContain('RestoreTableToPointInTime')
    expect(changes()).toContainEqual([
      'UpdateTable',
      { TableName: 'gateway-prod-2', DeletionProtectionEnabled: true },
    ])
  })

  it.each([
    [[], 'give one of --at TIME, --backup ARN and --finish'],
    [['--at', AT, '--finish'], 'give one of --at TIME, --backup ARN and --finish'],
    [['--at', 'yesterday'], '--at must be an RFC 3339 time'],
  ])('explains the arguments when called with %j', async (argv, message) => {
    const { code, text } = await restore(...argv)

    expect([code, changes()]).toStrictEqual([2, []])
    expect(text).toContain(message)
  })
})

describe('the doctor', () => {
  const client = new aws.DynamoDBClient({ region: 'ap-southeast-3' })

  it('looks at a restored table itself, because the stack does not contain it', async () => {
    stageIs('open', 2, WARM)
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

    // AWS Backup restores under the key that its caller names.
    const Table = { ...COMPLETE, SSEDescription: { KMSMasterKeyArn: 'arn:the-vault-key' } }
    dynamodb.on(aws.DescribeTableCommand, { TableName: Table.TableName }).resolves({ Table })
    expect(await checkTable(client, stage)).toMatchObject([
      { state: 'wrong', detail: 'lacks: encryption with the stage’s key, expiry of items' },
    ])
  })

  it('reports a closed stage', async () => {
    expect(await checkTable(client, stage)).toMatchObject([{ what: 'role', state: 'wrong' }])
  })
})
