import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { DescribeLimitsCommand } from '@aws-sdk/client-dynamodb'
import { ListEntitiesForPolicyCommand } from '@aws-sdk/client-iam'
import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { beforeEach, describe, expect, it } from 'vitest'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { awsRefusal } from './aws-refusal.ts'
import { type ExaminedStage, examinedStage } from './examined-stage.ts'

let prod: ExaminedStage

beforeEach(async () => {
  prod = await examinedStage('prod')
})

const CALLBACK_PATH = '/callbacks/xendit'
const callbacks = () => prod.api.requests.filter(({ url }) => url === CALLBACK_PATH)

/** In the order of the functions that read them. */
const QUEUES = 'webhooks webhooks-slow due-payments due-deliveries due-alerts settlements audits sync'.split(' ')

describe('the doctor', () => {
  it('finds nothing wrong with a stage that is as synthesised', async () => {
    const findings = await prod.examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toStrictEqual([])
    expect(findings.map(({ what }) => what)).toStrictEqual([
      'data stack',
      'drift of gateway-prod-data',
      'stack',
      'drift of gateway-prod',
      'stack of operators',
      'drift of gateway-prod-operators',
      'provider secret',
      'callback secret',
      'callback with a wrong token',
      'callback with token 1 of 2',
      'callback with token 2 of 2',
      'provider key for transactions',
      'provider key for payment requests',
      'routes',
      'operator functions',
      'functions',
      'account concurrency',
      'account table units',
      'duties admin and finance',
      ...QUEUES.map((name) => `event source gateway-prod-${name}`),
      'topic gateway-prod-alerts',
      'topic gateway-prod-pages',
      'watch stack',
      'drift of gateway-prod-watch',
      'front stack',
      'drift of gateway-prod-front',
      'origin secret',
      'origin certificate',
    ])
  })

  it('finds nothing wrong with dev, whose topic has no subscriber: it has no alarms', async () => {
    const dev = await examinedStage('dev')
    dev.aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const findings = await dev.examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toStrictEqual([])
    expect(findings.find(({ what }) => what === 'topic gateway-dev-alerts')?.detail).toContain('needs none')
    expect(findings.filter(({ what }) => /front|origin/.test(what))).toStrictEqual([])
  })

  it('names each user, group and role that holds admin and finance together, and says what it cannot see', async () => {
    const held = (duty: string) => ({ PolicyArn: `arn:aws:iam::000000000000:policy/gateway-prod-${duty}` })
    prod.aws.iam
      .on(ListEntitiesForPolicyCommand, held('admin'))
      .resolves({ PolicyUsers: [{ UserName: 'budi' }], PolicyRoles: [{ RoleName: 'payments' }] })
      .on(ListEntitiesForPolicyCommand, held('finance'))
      .resolves({ IsTruncated: true, Marker: 'm', PolicyGroups: [{ GroupName: 'payments' }] })
      .on(ListEntitiesForPolicyCommand, { ...held('finance'), Marker: 'm' })
      .resolves({ PolicyUsers: [{ UserName: 'budi' }, { UserName: 'siti' }] })

    const found = (await prod.examine()).find(({ what }) => what === 'duties admin and finance')

    expect(found).toMatchObject({
      state: 'wrong',
      detail: expect.stringMatching(/^held together by user budi; not seen/),
    })
  })

  it('prints neither key nor token, whatever it finds', async () => {
    const text = JSON.stringify(await prod.examine())

    expect(text).not.toMatch(/xnd_development_local|(old|new)-token|xxxx/)
  })

  it('knocks with a body that changes nothing', async () => {
    await prod.examine()

    const [knocks, others] = [callbacks(), prod.api.requests.filter(({ url }) => url !== CALLBACK_PATH)]
    expect(new Set(knocks.map(({ body }) => body))).toStrictEqual(new Set(['{"event":"gateway.doctor","data":{}}']))
    expect(knocks.every(({ method }) => method === 'POST')).toBe(true)
    expect(others.every(({ headers }) => headers.authorization === `Bearer ${unknownKey('prod')}`)).toBe(true)
    expect(prod.provider.requests.every(({ method }) => method === 'GET')).toBe(true)
  })

  const holding = (name: string, SecretString: string) =>
    prod.aws.secretsManager.on(GetSecretValueCommand, { SecretId: `gateway/prod/${name}` }).resolves({ SecretString })

  it('says which field of the provider’s secrets is wrong, and then tries neither key nor tokens', async () => {
    holding('provider', '{"secret_key": "", "callback_tokens": "hush"}')
    holding('provider-callback', '{"callback_tokens": ["hush-hush-hush"]}')

    const findings = await prod.notOk()

    expect(findings).toMatchObject([
      { what: 'provider secret', state: 'wrong', detail: expect.stringContaining('secret_key must be') },
      { what: 'callback secret', state: 'wrong', detail: expect.stringContaining('16 to 1,024') },
    ])
    expect(JSON.stringify(findings)).not.toContain('hush')
    expect(prod.provider.requests).toHaveLength(0)
    expect(callbacks()).toHaveLength(1)
  })

  it.each([
    ['provider', 'is the generated text', 'x(7Generated', 'it is not JSON'],
    ['provider-callback', 'has no tokens', '{"callback_tokens":[]}', 'callback_tokens'],
    ['origin', 'is too short', '{"current":"short"}', 'is malformed: every request is refused'],
    ['origin', 'is missing', undefined, 'is missing'],
  ])('sees a secret of %s that %s, and quotes nothing of it', async (name, _, text, detail) => {
    if (text !== undefined) holding(name, text)
    else {
      const stored = prod.aws.secretsManager.on(GetSecretValueCommand, { SecretId: `gateway/prod/${name}` })
      stored.rejects(awsRefusal('InvalidRequestException'))
    }

    const findings = await prod.notOk()

    expect(findings).toMatchObject([{ state: 'wrong', detail: expect.stringContaining(`gateway/prod/${name}: `) }])
    expect(findings[0]?.detail).toContain(detail)
    expect(JSON.stringify(findings)).not.toMatch(/Generated|short/)
  })

  it('sees that the subscription was not confirmed to alarms', async () => {
    prod.aws.sns
      .on(ListSubscriptionsByTopicCommand)
      .resolves({ Subscriptions: [{ SubscriptionArn: 'PendingConfirmation' }] })

    expect(await prod.notOk()).toMatchObject(
      ['alerts', 'pages'].map((name) => ({
        what: `topic gateway-prod-${name}`,
        state: 'wrong',
        detail: '0 confirmed, 1 waiting for confirmation',
      })),
    )
  })

  it('misses the topic of pages in a stage with alarms whose stack names none', async () => {
    const { Stacks: [stack] = [] } = await awsClients('r').cloudFormation.send(new DescribeStacksCommand({}))
    const Outputs = stack?.Outputs?.filter(({ OutputKey }) => OutputKey !== 'PagesTopicArn')
    prod.aws.cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: stack && [{ ...stack, Outputs }] })

    expect(await prod.notOk()).toMatchObject([{ what: 'topic PagesTopicArn', state: 'wrong' }])
  })

  it('sees that the alarm near the account’s limit counts with another limit', async () => {
    prod.aws.lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions: 500 } })

    expect(await prod.notOk()).toMatchObject([
      {
        what: 'account concurrency',
        state: 'wrong',
        detail: '500, and synth and concurrency-near-limit count with 1000',
      },
    ])
  })

  it.each([
    [10_000, 40_000],
    [40_000, 19_999],
  ])(
    'sees that the account gives one table %i reads and %i writes, fewer than the stage counts with',
    async (reads, writes) => {
      const limits = { TableMaxReadCapacityUnits: reads, TableMaxWriteCapacityUnits: writes }
      prod.aws.dynamodb.on(DescribeLimitsCommand).resolves(limits)

      const detail = `${reads} reads and ${writes} writes a second of one table, and the stage counts with 20000 and 20000`
      expect(await prod.notOk()).toMatchObject([{ what: 'account table units', state: 'wrong', detail }])
    },
  )

  it.each([
    ['gateway-prod-sweep-settlements', 'none'],
    ['gateway-prod-api-create-payment', '240'],
    ['gateway-prod-prove-release', 'none'],
  ])('sees that %s was stopped, whether the stage reserves for it or not', async (FunctionName, expected) => {
    prod.aws.lambda.on(GetFunctionConcurrencyCommand, { FunctionName }).resolves({ ReservedConcurrentExecutions: 0 })

    expect(await prod.notOk()).toMatchObject([
      { what: `function ${FunctionName}`, detail: `reserved concurrency is 0, should be ${expected}` },
    ])
  })

  it.each([
    ['state', { State: 'Disabled' }, 'state is Disabled, should be Enabled'],
    ['batch size', { BatchSize: 1 }, 'batch size is 1, should be 10'],
    ['concurrency', { ScalingConfig: {} }, 'most concurrency is not set, should be 100'],
    [
      'handling of a batch that failed in part',
      { FunctionResponseTypes: [] },
      'partial batches is not set, should be ReportBatchItemFailures',
    ],
    ['source', { EventSourceArn: 'arn:aws:sqs:r:1:another' }, 'source is another, should be gateway-prod-webhooks'],
  ])('sees an event source whose %s is another', async (_, changed, detail) => {
    const FunctionName = 'gateway-prod-deliver-webhook:live'
    const ask = new ListEventSourceMappingsCommand({ FunctionName })
    const { EventSourceMappings: [mapping, ...others] = [] } = await awsClients('r').lambda.send(ask)
    prod.aws.lambda
      .on(ListEventSourceMappingsCommand, { FunctionName })
      .resolves({ EventSourceMappings: [{ ...mapping, ...changed }, ...others] })

    expect(await prod.notOk()).toMatchObject([{ what: 'event source gateway-prod-webhooks', state: 'wrong', detail }])
  })

  it.each([
    ['gateway-prod-settle-client:live', ['gateway-prod-settlements']],
    ['gateway-prod-deliver-webhook:live', ['gateway-prod-webhooks', 'gateway-prod-webhooks-slow']],
  ])('sees each event source of %s that is gone', async (FunctionName, names) => {
    prod.aws.lambda.on(ListEventSourceMappingsCommand, { FunctionName }).resolves({ EventSourceMappings: [] })

    expect(await prod.notOk()).toMatchObject(
      names.map((name) => ({ what: `event source ${name}`, state: 'wrong', detail: 'is missing' })),
    )
  })

  it('sees in time that the certificate by which the API knows its front ends', async () => {
    const inAHundredYears = await examinedStage('prod')
    await inAHundredYears.io.sleep(36_500 * 86_400_000)

    expect(await inAHundredYears.notOk()).toMatchObject([
      { what: 'origin certificate', state: 'wrong', detail: expect.stringContaining('ends in ') },
    ])
  })
})
