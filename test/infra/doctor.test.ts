import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DescribeStackResourceCommand,
  DescribeStacksCommand,
  DetectStackResourceDriftCommand,
} from '@aws-sdk/client-cloudformation'
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import {
  GetEventSourceMappingCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { awsClients } from '../../infra/check/aws-clients.ts'
import { checkFront } from '../../infra/doctor/check-front.ts'
import { checkFunctions } from '../../infra/doctor/check-functions.ts'
import { examineStage } from '../../infra/doctor/examine-stage.ts'
import { type DeployedStage, deployedStage } from '../../infra/stage.ts'
import { stageTemplate } from '../../infra/stage-template.ts'
import { awsRefusal } from '../support/aws-refusal.ts'
import { deployedAws, STREAM_ARN } from '../support/deployed-stage.ts'
import { callbackApi, providerApi } from '../support/examined-borders.ts'
import type { ScriptedServer } from '../support/scripted-server.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { DOMAIN } from '../support/stage-options.ts'

const stage = deployedStage('prod')
const template = stageTemplate(stage)
const QUEUE = 'https://sqs/gateway-prod-webhooks'
const FUNCTION = 'gateway-prod-api-create-payment'

let api: ScriptedServer
let provider: ScriptedServer
let aws: ReturnType<typeof deployedAws>

beforeEach(async () => {
  ;[api, provider] = await Promise.all([callbackApi(), providerApi()])
  aws = deployedAws(template, { ApiUrl: api.url })
})

const examine = () =>
  examineStage({ stage, template, aws: awsClients('ap-southeast-3'), nowMs: Date.now, providerUrl: provider.url })
const notOk = async () => (await examine()).filter(({ state }) => state !== 'ok')

describe('the doctor', () => {
  it('finds nothing wrong with a stage that is as synthesised', async () => {
    const findings = await examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toStrictEqual([])
    expect(findings.map(({ what }) => what)).toStrictEqual(
      expect.arrayContaining([
        'stack',
        'provider secret',
        'callback with a wrong token',
        'callback with token 1 of 2',
        'callback with token 2 of 2',
        'clock',
        'provider key for transactions',
        'provider key for payment requests',
        'table gateway-prod',
        'point-in-time recovery',
        'expiry of items',
        'queue gateway-prod-webhooks',
        'queue gateway-prod-stream-dead',
        'functions',
        'event source gateway-prod-settlements',
        'event source gateway-prod',
        'schedule gateway-prod-sweep-settlements',
        'topic gateway-prod-alerts',
      ]),
    )
  })

  it('prints neither key nor token, whatever it finds', async () => {
    const text = JSON.stringify(await examine())

    expect(text).not.toMatch(/xnd_development_local|old-token|new-token/)
  })

  it('knocks with a body that changes nothing', async () => {
    await examine()

    expect(new Set(api.requests.map(({ body }) => body))).toStrictEqual(
      new Set(['{"event":"gateway.doctor","data":{}}']),
    )
    expect(api.requests.every(({ url, method }) => method === 'POST' && url === '/callbacks/xendit')).toBe(true)
    expect(provider.requests.every(({ method }) => method === 'GET')).toBe(true)
  })

  it('says that a deployment is under way, and looks no further', async () => {
    const { Stacks: [stack] = [] } = await awsClients('r').cloudFormation.send(new DescribeStacksCommand({}))
    aws.cloudFormation
      .on(DescribeStacksCommand)
      .resolves({ Stacks: stack && [{ ...stack, StackStatus: 'UPDATE_ROLLBACK_IN_PROGRESS' }] })

    expect(await examine()).toMatchObject([
      { what: 'stack', state: 'unclear', detail: 'gateway-prod is UPDATE_ROLLBACK_IN_PROGRESS' },
    ])
  })

  it('says that a deployment left something to do, and looks at everything', async () => {
    const { Stacks: [stack] = [] } = await awsClients('r').cloudFormation.send(new DescribeStacksCommand({}))
    aws.cloudFormation
      .on(DescribeStacksCommand)
      .resolves({ Stacks: stack && [{ ...stack, StackStatus: 'UPDATE_ROLLBACK_FAILED' }] })

    const findings = await examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([
      { what: 'stack', state: 'wrong', todo: expect.stringContaining('continue-update-rollback') },
    ])
    expect(findings.length).toBeGreaterThan(10)
  })

  it('looks at stack and secret of a front, where there is one', async () => {
    const front: DeployedStage = { ...stage, front: 'cloudfront', domain: DOMAIN }
    const frontFindings = async () =>
      (await checkFront(awsClients('r'), front)).map(({ what, state, detail }) => `${what}: ${state}: ${detail}`)
    const holding = (value: object) =>
      aws.secretsManager
        .on(GetSecretValueCommand, { SecretId: 'gateway/prod/origin' })
        .resolves({ SecretString: JSON.stringify(value) })

    holding({ current: 'x'.repeat(64) })
    expect(await frontFindings()).toStrictEqual([
      'front stack: ok: gateway-prod is UPDATE_COMPLETE',
      'origin secret: ok: gateway/prod/origin is well-formed',
    ])
    holding({ current: 'short' })
    expect((await frontFindings())[1]).toMatch(/^origin secret: wrong: .* is malformed/)
    aws.secretsManager
      .on(GetSecretValueCommand, { SecretId: 'gateway/prod/origin' })
      .rejects(awsRefusal('InvalidRequestException'))
    aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('ValidationError', 'Stack does not exist'))
    expect(await frontFindings()).toStrictEqual([
      'front stack: wrong: gateway-prod-front is not deployed',
      'origin secret: wrong: gateway/prod/origin is missing: every request is refused',
    ])
    expect(await checkFront(awsClients('r'), stage)).toStrictEqual([])
  })

  it('says that a stage is not deployed, and looks no further', async () => {
    aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('ValidationError', 'Stack does not exist'))

    expect(await examine()).toMatchObject([{ what: 'stack', state: 'wrong' }])
  })

  it('says which field of the provider secret is wrong, and then tries neither key nor tokens', async () => {
    aws.secretsManager
      .on(GetSecretValueCommand)
      .resolves({ SecretString: '{"secret_key": "", "callback_tokens": "hush"}' })

    const findings = await examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([{ what: 'provider secret', state: 'wrong' }])
    expect(JSON.stringify(findings)).toMatch(/secret_key must be .*callback_tokens must be/)
    expect(JSON.stringify(findings)).not.toContain('hush')
    expect(provider.requests).toHaveLength(0)
    expect(api.requests).toHaveLength(1)
  })

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

  it.each([
    ['visibility timeout', { VisibilityTimeout: '30' }],
    ['retention', { MessageRetentionPeriod: '60' }],
    ['dead-letter queue', { RedrivePolicy: '{"deadLetterTargetArn":"arn:aws:sqs:r:1:another","maxReceiveCount":5}' }],
    [
      'receives',
      { RedrivePolicy: '{"deadLetterTargetArn":"arn:aws:sqs:r:1:gateway-prod-webhooks-dead","maxReceiveCount":"1"}' },
    ],
  ])('sees a queue whose %s is another', async (setting, changed) => {
    const { Attributes } = await awsClients('r').sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: QUEUE, AttributeNames: ['All'] }),
    )
    aws.sqs.on(GetQueueAttributesCommand, { QueueUrl: QUEUE }).resolves({ Attributes: { ...Attributes, ...changed } })

    expect(await notOk()).toMatchObject([
      { what: 'queue gateway-prod-webhooks', state: 'wrong', detail: expect.stringContaining(setting) },
    ])
  })

  it('sees that a queue is not encrypted', async () => {
    const { Attributes = {} } = await awsClients('r').sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: QUEUE, AttributeNames: ['All'] }),
    )
    const { KmsMasterKeyId: _, ...plain } = { ...Attributes, SqsManagedSseEnabled: 'false' }
    aws.sqs.on(GetQueueAttributesCommand, { QueueUrl: QUEUE }).resolves({ Attributes: plain })

    expect(await notOk()).toMatchObject([{ state: 'wrong', detail: expect.stringContaining('encryption') }])
  })

  it('sees that a queue is missing', async () => {
    aws.sqs.on(GetQueueUrlCommand, { QueueName: 'gateway-prod-settlements' }).rejects(awsRefusal('QueueDoesNotExist'))

    expect(await notOk()).toMatchObject([
      { what: 'queue gateway-prod-settlements', state: 'wrong', detail: 'is missing' },
    ])
  })

  it.each([
    ['timeout', { Timeout: 3 }],
    ['memory', { MemorySize: 128 }],
    ['runtime', { Runtime: 'nodejs20.x' as const }],
    ['environment', { Environment: { Variables: { GATEWAY_PROVIDER_URL: 'https://elsewhere.example' } } }],
    ['last update', { LastUpdateStatus: 'Failed' as const }],
  ])('sees a function whose %s is another, without its values', async (setting, changed) => {
    const found = await awsClients('r').lambda.send(new GetFunctionConfigurationCommand({ FunctionName: FUNCTION }))
    aws.lambda.on(GetFunctionConfigurationCommand, { FunctionName: FUNCTION }).resolves({ ...found, ...changed })

    const findings = await notOk()

    expect(findings).toMatchObject([
      { what: `function ${FUNCTION}`, state: 'wrong', detail: expect.stringContaining(setting) },
    ])
    expect(JSON.stringify(findings)).not.toContain('elsewhere')
  })

  it.each(['gateway-prod-api-get-payment', FUNCTION])(
    'sees that %s was stopped, whether the stage reserves for it or not',
    async (FunctionName) => {
      aws.lambda.on(GetFunctionConcurrencyCommand, { FunctionName }).resolves({ ReservedConcurrentExecutions: 0 })

      expect(await notOk()).toMatchObject([
        {
          what: `function ${FunctionName}`,
          state: 'wrong',
          detail: expect.stringContaining('reserved concurrency is 0, should be '),
        },
      ])
    },
  )

  it('leaves no function of ours unlooked at because its template has another form', async () => {
    const ofType: typeof template.ofType = (type) =>
      template
        .ofType(type)
        .map((resource) =>
          resource.properties['FunctionName'] === FUNCTION
            ? { ...resource, properties: { ...resource.properties, Timeout: '22' } }
            : resource,
        )

    expect(await checkFunctions(awsClients('r').lambda, { ofType })).toMatchObject([
      { what: `function ${FUNCTION}`, state: 'wrong' },
    ])
  })

  it('sees a function that is missing', async () => {
    aws.lambda
      .on(GetFunctionConfigurationCommand, { FunctionName: FUNCTION })
      .rejects(awsRefusal('ResourceNotFoundException'))

    expect(await notOk()).toMatchObject([{ what: `function ${FUNCTION}`, detail: 'is missing' }])
  })

  it('sees an event source that is switched off or gone', async () => {
    aws.lambda.on(GetEventSourceMappingCommand).resolves({ State: 'Disabled', BatchSize: 1 })
    const off = await notOk()
    aws.cloudFormation
      .on(DescribeStackResourceCommand)
      .rejects(awsRefusal('ValidationError', 'Resource does not exist'))
    const gone = await notOk()

    expect(off.map(({ what }) => what)).toContain('event source gateway-prod-webhooks')
    expect(off[0]?.detail).toContain('state is "Disabled", should be "Enabled"')
    expect(gone).toContainEqual(
      expect.objectContaining({ what: 'event source gateway-prod-webhooks', detail: 'is missing' }),
    )
  })

  it('sees a stream that is no longer the table’s, as after a restore', async () => {
    const { Table } = await awsClients('r').dynamodb.send(new DescribeTableCommand({ TableName: 'gateway-prod' }))
    aws.dynamodb.on(DescribeTableCommand).resolves({ Table: { ...Table, LatestStreamArn: 'arn:the-new-one' } })

    expect(await notOk()).toMatchObject([
      {
        what: 'event source gateway-prod',
        state: 'wrong',
        detail: `reads ${STREAM_ARN}, not the table's stream arn:the-new-one`,
        todo: 'docs/operations.md, "7. Restoring the table in place", step 7',
      },
    ])
  })

  it('sees a stream whose reader fails', async () => {
    const [{ logicalId = '', properties = {} } = {}] = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .filter(({ properties: { StartingPosition } }) => StartingPosition !== undefined)
    aws.lambda.on(GetEventSourceMappingCommand, { UUID: `physical-${logicalId}` }).resolves({
      ...properties,
      State: 'Enabled',
      EventSourceArn: STREAM_ARN,
      LastProcessingResult: 'PROBLEM: Function call failed',
    })

    expect(await notOk()).toMatchObject([
      { what: 'event source gateway-prod', state: 'wrong', detail: 'the last batch: PROBLEM: Function call failed' },
    ])
  })

  it('sees a schedule that someone switched off', async () => {
    aws.cloudFormation.on(DetectStackResourceDriftCommand).resolves({
      StackResourceDrift: {
        StackId: 's',
        LogicalResourceId: 'l',
        ResourceType: 'AWS::Events::Rule',
        Timestamp: new Date(0),
        StackResourceDriftStatus: 'MODIFIED',
        PropertyDifferences: [
          { PropertyPath: '/State', ExpectedValue: 'ENABLED', ActualValue: 'DISABLED', DifferenceType: 'NOT_EQUAL' },
        ],
      },
    })

    expect((await notOk())[0]).toMatchObject({ state: 'wrong', detail: 'State is DISABLED, should be ENABLED' })
  })

  it('sees that nobody confirmed the subscription to alarms', async () => {
    aws.sns
      .on(ListSubscriptionsByTopicCommand)
      .resolves({ Subscriptions: [{ SubscriptionArn: 'PendingConfirmation' }] })

    expect(await notOk()).toMatchObject([
      { what: 'topic gateway-prod-alerts', state: 'wrong', detail: '0 confirmed, 1 waiting for confirmation' },
    ])
  })
})
