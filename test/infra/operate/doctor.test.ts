import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { checkFront } from '../../../infra/operate/doctor/check-front.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { stageTemplate } from '../../../infra/stack/stage-template.ts'
import { awsRefusal } from '../../support/aws-refusal.ts'
import { type ExaminedStage, examinedStage, stage } from '../../support/examined-stage.ts'
import { DOMAIN } from '../../support/stage-options.ts'

const QUEUE = 'https://sqs/gateway-prod-webhooks'

let api: ExaminedStage['api']
let provider: ExaminedStage['provider']
let aws: ExaminedStage['aws']
let examine: ExaminedStage['examine']
let notOk: ExaminedStage['notOk']

beforeEach(async () => {
  ;({ api, provider, aws, examine, notOk } = await examinedStage())
})

describe('the doctor on a stage that names nobody', () => {
  it('finds nothing wrong with dev, whose topic has no subscriber: it has no alarms', async () => {
    const dev = deployedStage('dev')
    const examined = await examinedStage({ stage: dev, template: stageTemplate(dev) })
    examined.aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const findings = await examined.examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toStrictEqual([])
    expect(findings.find(({ what }) => what === 'topic gateway-dev-alerts')?.detail).toContain('needs none')
  })
})

describe('the doctor', () => {
  it('finds nothing wrong with a stage that is as synthesised', async () => {
    const findings = await examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toStrictEqual([])
    expect(findings.map(({ what }) => what)).toStrictEqual(
      expect.arrayContaining([
        'stack',
        'provider secret',
        'callback secret',
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
        'topic gateway-prod-pages',
        'account concurrency',
      ]),
    )
  })

  it('prints neither key nor token, whatever it finds', async () => {
    const text = JSON.stringify(await examine())

    expect(text).not.toMatch(/xnd_development_local|(old|new)-token/)
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
      .on(DescribeStacksCommand, { StackName: 'gateway-prod' })
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
      (await checkFront(awsClients('r'), front, Date.now())).map(
        ({ what, state, detail }) => `${what}: ${state}: ${detail}`,
      )
    const holding = (value: object) =>
      aws.secretsManager
        .on(GetSecretValueCommand, { SecretId: 'gateway/prod/origin' })
        .resolves({ SecretString: JSON.stringify(value) })

    holding({ current: 'x'.repeat(64) })
    expect(await frontFindings()).toStrictEqual([
      'front stack: ok: gateway-prod is UPDATE_COMPLETE',
      'origin secret: ok: gateway/prod/origin is well-formed',
      `origin certificate: ok: ${stage.frontSettings.originCertificate?.authority} is valid`,
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
      expect.stringMatching(/^origin certificate: ok/),
    ])
    const inAHundredYears = Date.now() + 36_500 * 86_400_000
    expect(await checkFront(awsClients('r'), front, inAHundredYears)).toMatchObject([
      {},
      {},
      { what: 'origin certificate', state: 'wrong', detail: expect.stringContaining('ends in ') },
    ])
    expect(await checkFront(awsClients('r'), { ...stage, front: 'none' }, Date.now())).toStrictEqual([])
  })

  it('says that a stage is not deployed, and looks no further', async () => {
    aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('ValidationError', 'Stack does not exist'))

    expect(await examine()).toMatchObject([{ what: 'stack', state: 'wrong' }])
  })

  const holding = (name: string, SecretString: string) =>
    aws.secretsManager.on(GetSecretValueCommand, { SecretId: `gateway/prod/${name}` }).resolves({ SecretString })

  it('says which field of the provider’s secrets is wrong, and then tries neither key nor tokens', async () => {
    holding('provider', '{"secret_key": "", "callback_tokens": "hush"}')
    holding('provider-callback', '{"callback_tokens": ["hush-hush-hush"]}')

    const findings = await examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([
      { what: 'provider secret', state: 'wrong', detail: expect.stringContaining('secret_key must be') },
      { what: 'callback secret', state: 'wrong', detail: expect.stringContaining('16 to 1,024') },
    ])
    expect(JSON.stringify(findings)).not.toContain('hush')
    expect(provider.requests).toHaveLength(0)
    expect(api.requests).toHaveLength(1)
  })

  it('says that tokens an older release used are still beside the key, where many functions may read them', async () => {
    const tokens = ['the-old-token-of-tests']
    holding('provider', JSON.stringify({ secret_key: 'xnd_development_local', callback_tokens: tokens }))

    const findings = await examine()

    expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([
      { what: 'provider secret', state: 'wrong', detail: expect.stringContaining('still holds callback tokens') },
    ])
    expect(JSON.stringify(findings)).not.toContain('old-token')
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

  it('sees that nobody confirmed the subscription to alarms', async () => {
    aws.sns
      .on(ListSubscriptionsByTopicCommand)
      .resolves({ Subscriptions: [{ SubscriptionArn: 'PendingConfirmation' }] })

    expect(await notOk()).toMatchObject(
      ['alerts', 'pages'].map((name) => ({
        what: `topic gateway-prod-${name}`,
        state: 'wrong',
        detail: '0 confirmed, 1 waiting for confirmation',
      })),
    )
  })

  it('sees that the alarm near the account’s limit counts with another limit', async () => {
    aws.lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions: 500 } })

    expect(await notOk()).toMatchObject([
      {
        what: 'account concurrency',
        state: 'wrong',
        detail: '500, and concurrency-near-limit counts with 1000',
      },
    ])
  })
})
