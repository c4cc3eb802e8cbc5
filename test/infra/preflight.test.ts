import { CloudFormationClient, DescribeStacksCommand, type StackStatus } from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53'
import { DescribeSecretCommand, GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Finding } from '../../infra/check/finding.ts'
import { IMPORT_FLAG } from '../../infra/deploy/check-leftovers.ts'
import { type PreflightInput, preflight } from '../../infra/deploy/preflight.ts'
import { PROJECT_ROOT } from '../../infra/deploy/run-deploy.ts'
import { type DeployedStage, deployedStage } from '../../infra/stage.ts'
import { stageTemplate } from '../../infra/stage-template.ts'
import { awsRefusal } from '../support/aws-refusal.ts'

const cloudFormation = mockClient(CloudFormationClient)
const dynamodb = mockClient(DynamoDBClient)
const lambda = mockClient(LambdaClient)
const route53 = mockClient(Route53Client)
const secretsManager = mockClient(SecretsManagerClient)
const sqs = mockClient(SQSClient)
const sts = mockClient(STSClient)

const ready: DeployedStage = {
  ...deployedStage('prod'),
  settings: { ...deployedStage('prod').settings, defaultReturnUrl: 'https://gateway.example.org/paid' },
  alarmRecipients: ['oncall@gateway.example.org'],
  domain: { name: 'pay.example.org', zone: { name: 'example.org', id: 'Z1' } },
}

const stackAbsent = awsRefusal('ValidationError', 'Stack with id gateway-prod does not exist')
const stackOf = (outputs: Readonly<Record<string, string>>, StackStatus: StackStatus) => ({
  Stacks: [
    {
      StackName: 'any',
      CreationTime: new Date(0),
      StackStatus,
      Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    },
  ],
})
const toolkit = (version: string) => stackOf({ BootstrapVersion: version }, 'UPDATE_COMPLETE')
const zone = (name: string, isPrivate = false) => ({
  HostedZone: { Id: 'Z1', Name: `${name}.`, CallerReference: 'r', Config: { PrivateZone: isPrivate } },
})
const aSecret = (fields: object) => ({ SecretString: JSON.stringify(fields) })
const GOOD_SECRET = aSecret({ secret_key: 'xnd_production_key', callback_tokens: ['token-1'] })

/** What the template reserves, which is what Lambda will be asked for. */
const RESERVED = stageTemplate(ready)
  .ofType('AWS::Lambda::Function')
  .flatMap(({ properties: { FunctionName, ReservedConcurrentExecutions: runs } }) =>
    typeof runs === 'number' ? [{ FunctionName: String(FunctionName), runs }] : [],
  )

/** An account in which everything is as it should be, with the stage deployed once before. */
beforeEach(() => {
  for (const mock of [cloudFormation, dynamodb, lambda, route53, secretsManager, sqs, sts]) mock.reset()
  sts.on(GetCallerIdentityCommand).resolves({ Account: '000000000000', Arn: 'arn:aws:iam::000000000000:user/ayu' })
  cloudFormation.on(DescribeStacksCommand, { StackName: 'CDKToolkit' }).resolves(toolkit('28'))
  cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf({}, 'UPDATE_COMPLETE'))
  route53.on(GetHostedZoneCommand, { Id: 'Z1' }).resolves(zone('example.org'))
  secretsManager.on(GetSecretValueCommand, { SecretId: 'gateway/prod/provider' }).resolves(GOOD_SECRET)
  lambda
    .on(GetAccountSettingsCommand)
    .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 990 } })
  lambda.on(GetFunctionConcurrencyCommand).rejects(awsRefusal('ResourceNotFoundException'))
})

const look = async (input: Partial<PreflightInput> = {}) =>
  preflight({ stage: ready, region: 'ap-southeast-3', flags: [], root: PROJECT_ROOT, ...input })

const notOk = (findings: readonly Finding[]) => findings.filter(({ state }) => state !== 'ok')
const findingsOf = async (input: Partial<PreflightInput> = {}) => notOk((await look(input)).findings)

/** Makes the stage new: neither a stack nor anything an earlier one left. */
const beforeTheFirstDeployment = () => {
  cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).rejects(stackAbsent)
  dynamodb.on(DescribeTableCommand).rejects(awsRefusal('ResourceNotFoundException'))
  secretsManager.on(DescribeSecretCommand).rejects(awsRefusal('ResourceNotFoundException'))
  sqs.on(GetQueueUrlCommand).rejects(awsRefusal('QueueDoesNotExist'))
}

describe('preflight', () => {
  it('finds nothing missing in an account that has everything', async () => {
    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.map(({ what }) => what)).toStrictEqual([
      'stage settings',
      'packages',
      'region',
      'credentials',
      'CDK bootstrap in ap-southeast-3',
      'domain pay.example.org',
      'Lambda concurrency',
      'stack',
      'provider secret',
    ])
    expect(first).toBe(false)
  })

  it('misses a return URL and somebody to tell in a stage that keeps its data, and only there', async () => {
    const bare = deployedStage('prod')

    expect(await findingsOf({ stage: { ...ready, settings: bare.settings } })).toMatchObject([
      { what: 'stage settings', state: 'wrong', detail: 'the return URL is still https://example.com/' },
    ])
    expect(await findingsOf({ stage: { ...ready, alarmRecipients: [] } })).toMatchObject([
      { what: 'stage settings', state: 'wrong', detail: 'nobody is told of an alarm' },
    ])
    expect(await findingsOf({ stage: { ...bare, deletionProtection: false } })).toStrictEqual([])
  })

  it('misses a region, and asks AWS nothing without one', async () => {
    expect(await findingsOf({ region: undefined })).toMatchObject([{ what: 'region', state: 'wrong' }])
    expect(sts.calls()).toHaveLength(0)
  })

  it('misses credentials, shows no message of AWS and looks no further', async () => {
    sts.on(GetCallerIdentityCommand).rejects(awsRefusal('ExpiredTokenException'))

    expect(await findingsOf()).toMatchObject([{ what: 'credentials', state: 'wrong', detail: 'ExpiredTokenException' }])
    expect(cloudFormation.calls()).toHaveLength(0)
  })

  it.each(['ENOTFOUND', 'ETIMEDOUT', 'TimeoutError'])(
    'does not ask anyone to sign in when nobody answers: %s',
    async (code) => {
      sts
        .on(GetCallerIdentityCommand)
        .rejects(Object.assign(new Error('getaddrinfo'), { code, name: code.startsWith('E') ? 'Error' : code }))

      expect(await findingsOf()).toMatchObject([
        { what: 'credentials', detail: `no network (${code})`, todo: 'check the network, then try again' },
      ])
    },
  )

  it.each([
    ['is not done', () => Promise.reject(awsRefusal('ValidationError', 'CDKToolkit does not exist')), 'not done yet'],
    ['is too old', () => Promise.resolve(toolkit('7')), 'version 7, needs 8 or later'],
    ['says no version', () => Promise.resolve(stackOf({}, 'UPDATE_COMPLETE')), 'version unknown, needs 8 or later'],
  ])('misses the bootstrap when it %s', async (_, answer, detail) => {
    cloudFormation.on(DescribeStacksCommand, { StackName: 'CDKToolkit' }).callsFake(answer)

    expect(await findingsOf()).toMatchObject([{ what: 'CDK bootstrap in ap-southeast-3', state: 'wrong', detail }])
  })

  it('looks at the bootstrap of us-east-1 too when CloudFront stands in front', async () => {
    const { findings } = await look({ stage: { ...ready, front: 'cloudfront' } })

    expect(findings.map(({ what }) => what)).toContain('CDK bootstrap in us-east-1')
  })

  it.each([
    [
      'is not there',
      () => Promise.reject(awsRefusal('NoSuchHostedZone')),
      'there is no hosted zone Z1 in this account',
    ],
    ['has another name', () => Promise.resolve(zone('example.net')), 'zone Z1 is example.net, not example.org'],
    ['is private', () => Promise.resolve(zone('example.org', true)), 'zone Z1 is private'],
  ])('misses a hosted zone that %s', async (_, answer, detail) => {
    route53.on(GetHostedZoneCommand).callsFake(answer)

    expect(await findingsOf()).toMatchObject([{ what: 'domain pay.example.org', state: 'wrong', detail }])
  })

  it('refuses a domain that only looks as if it were in its zone', async () => {
    const domain = { name: 'pay.badexample.org', zone: { name: 'example.org', id: 'Z1' } }

    expect(await findingsOf({ stage: { ...ready, domain } })).toMatchObject([
      { what: 'domain pay.badexample.org', state: 'wrong', detail: 'is not in zone example.org' },
    ])
  })

  it.each([
    ['is missing', () => Promise.reject(awsRefusal('ResourceNotFoundException')), 'is missing'],
    ['is the generated text', () => Promise.resolve({ SecretString: 'x(7Generated' }), 'it is not JSON'],
    ['has no tokens', () => Promise.resolve(aSecret({ secret_key: 'hush', callback_tokens: [] })), 'callback_tokens'],
    ['has a key of spaces', () => Promise.resolve(aSecret({ secret_key: ' ', callback_tokens: ['t'] })), 'secret_key'],
  ])('misses the provider secret when it %s', async (_, answer, detail) => {
    secretsManager.on(GetSecretValueCommand).callsFake(answer)

    const missing = await findingsOf()

    expect(missing).toMatchObject([{ what: 'provider secret', state: 'wrong' }])
    expect(missing[0]?.detail).toContain(detail)
    expect(JSON.stringify(missing)).not.toMatch(/hush|Generated/)
  })

  it('does not want a provider secret before the first deployment, and says that it must follow', async () => {
    beforeTheFirstDeployment()

    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(first).toBe(true)
    expect(findings.find(({ what }) => what === 'provider secret')?.detail).toContain('filled in after it')
    expect(secretsManager.commandCalls(GetSecretValueCommand)).toHaveLength(0)
  })

  it('takes a stack whose creation was rolled back for none', async () => {
    beforeTheFirstDeployment()
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf({}, 'ROLLBACK_COMPLETE'))

    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(first).toBe(true)
  })

  it.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'] as const)(
    'says how to remove a stack that is %s and protected, which CDK cannot',
    async (status) => {
      beforeTheFirstDeployment()
      const { Stacks: [stack] = [] } = stackOf({}, status)
      cloudFormation
        .on(DescribeStacksCommand, { StackName: 'gateway-prod' })
        .resolves({ Stacks: stack && [{ ...stack, StackName: 'gateway-prod', EnableTerminationProtection: true }] })

      expect(await findingsOf()).toStrictEqual([
        {
          what: 'stack',
          state: 'wrong',
          detail: `gateway-prod is ${status}: its creation failed`,
          todo: 'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name gateway-prod && aws cloudformation delete-stack --stack-name gateway-prod',
        },
      ])
    },
  )

  it.each([
    ['UPDATE_COMPLETE', 'ok', ''],
    ['UPDATE_ROLLBACK_COMPLETE', 'ok', 'the last deployment was taken back'],
    ['IMPORT_COMPLETE', 'ok', ''],
    ['UPDATE_IN_PROGRESS', 'unclear', ''],
    ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'unclear', ''],
    ['UPDATE_ROLLBACK_FAILED', 'wrong', ''],
    ['UPDATE_FAILED', 'wrong', ''],
    ['DELETE_FAILED', 'wrong', ''],
  ] as const)('finds a stack that is %s %s', async (status, state, word) => {
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf({}, status))

    const { findings, first } = await look()

    expect(findings).toContainEqual(
      expect.objectContaining({ what: 'stack', state, detail: expect.stringContaining(word) }),
    )
    expect(first).toBe(false)
  })

  it.each(['CREATE_FAILED', 'UPDATE_FAILED'] as const)(
    'goes on with a stack that is %s when told to',
    async (status) => {
      cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf({}, status))
      if (status === 'CREATE_FAILED')
        secretsManager
          .on(GetSecretValueCommand, { SecretId: 'gateway/prod/provider' })
          .resolves({ SecretString: 'generated' })

      expect(await findingsOf()).toMatchObject([{ what: 'stack', state: 'wrong' }])
      expect(await findingsOf({ flags: ['--no-rollback'] })).toStrictEqual([])
    },
  )

  it('looks at the front’s stack as well', async () => {
    const stage: DeployedStage = { ...ready, front: 'cloudfront' }
    cloudFormation
      .on(DescribeStacksCommand, { StackName: 'gateway-prod-front' })
      .rejectsOnce(stackAbsent)
      .resolves(stackOf({}, 'UPDATE_ROLLBACK_FAILED'))

    expect(await findingsOf({ stage })).toStrictEqual([])
    expect(await findingsOf({ stage })).toMatchObject([{ what: 'front stack', state: 'wrong' }])
  })

  it('refuses a table that an earlier stack still holds, unless it is to be taken over', async () => {
    beforeTheFirstDeployment()
    dynamodb.on(DescribeTableCommand, { TableName: 'gateway-prod' }).resolves({ Table: {} })

    expect(await findingsOf()).toMatchObject([
      {
        what: 'table gateway-prod',
        state: 'wrong',
        detail: 'exists without a stack',
        todo: expect.stringMatching(
          /--import-existing-resources.* aws dynamodb delete-table --table-name gateway-prod/,
        ),
      },
    ])
    expect(await findingsOf({ flags: [IMPORT_FLAG] })).toStrictEqual([])
  })

  it.each([
    ['exists', {}],
    ['is scheduled for deletion', { DeletedDate: new Date(0) }],
  ])('refuses a secret that %s even when things are to be taken over: no stack can', async (state, described) => {
    beforeTheFirstDeployment()
    secretsManager.on(DescribeSecretCommand, { SecretId: 'gateway/prod/provider' }).resolves(described)

    expect(await findingsOf({ flags: [IMPORT_FLAG] })).toMatchObject([
      {
        what: 'secret gateway/prod/provider',
        state: 'wrong',
        detail: expect.stringContaining(state),
        todo: expect.stringContaining(
          'aws secretsmanager delete-secret --secret-id gateway/prod/provider --force-delete-without-recovery',
        ),
      },
    ])
  })

  it('refuses queues likewise, each of the template', async () => {
    beforeTheFirstDeployment()
    sqs
      .on(GetQueueUrlCommand)
      .callsFake(({ QueueName }: { QueueName: string }) => ({ QueueUrl: `https://${QueueName}` }))

    const missing = await findingsOf({ flags: [IMPORT_FLAG] })

    expect(missing.map(({ what }) => what)).toStrictEqual(
      expect.arrayContaining(['queue gateway-prod-webhooks', 'queue gateway-prod-stream-dead']),
    )
    expect(missing).toHaveLength(6)
    expect(missing.find(({ what }) => what === 'queue gateway-prod-webhooks')?.todo).toContain(
      'aws sqs delete-queue --queue-url https://gateway-prod-webhooks',
    )
  })

  it('looks for the origin secret and its copy where there is a front', async () => {
    beforeTheFirstDeployment()
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod-front' }).rejects(stackAbsent)
    secretsManager.on(DescribeSecretCommand, { SecretId: 'gateway/prod/origin' }).resolves({})

    const missing = await findingsOf({ stage: { ...ready, front: 'cloudfront' } })

    expect(missing.map(({ what }) => what)).toStrictEqual([
      'secret gateway/prod/origin',
      'secret gateway/prod/origin in us-east-1',
    ])
    expect(missing[1]?.todo).toContain('stop-replication-to-replica --region us-east-1')
    expect(await findingsOf()).toStrictEqual([])
  })

  const unreserved = (UnreservedConcurrentExecutions: number) =>
    lambda
      .on(GetAccountSettingsCommand)
      .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions } })

  it('wants so much concurrency that a hundred executions are left to share', async () => {
    const reserved = RESERVED.reduce((sum, { runs }) => sum + runs, 0)

    unreserved(100 + reserved)
    expect(await findingsOf()).toStrictEqual([])
    unreserved(99 + reserved)
    expect(await findingsOf()).toMatchObject([{ what: 'Lambda concurrency', state: 'wrong' }])
    expect(reserved).toBeGreaterThan(500)
  })

  it('wants nothing of a new account for a stage that reserves nothing', async () => {
    unreserved(10)
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-dev' }).resolves(stackOf({}, 'UPDATE_COMPLETE'))
    secretsManager.on(GetSecretValueCommand, { SecretId: 'gateway/dev/provider' }).resolves(GOOD_SECRET)

    expect(await findingsOf({ stage: deployedStage('dev') })).toStrictEqual([])
  })

  it('does not count twice what an earlier deployment reserved', async () => {
    for (const { FunctionName, runs } of RESERVED) {
      lambda.on(GetFunctionConcurrencyCommand, { FunctionName }).resolves({ ReservedConcurrentExecutions: runs })
    }
    unreserved(100)

    expect(await findingsOf()).toStrictEqual([])
  })

  it('counts only what is reserved anew, whatever another function gives back', async () => {
    const [first, second] = RESERVED
    for (const { FunctionName, runs } of RESERVED) {
      const found = FunctionName === first?.FunctionName ? runs - 1 : runs
      lambda
        .on(GetFunctionConcurrencyCommand, { FunctionName })
        .resolves({ ReservedConcurrentExecutions: FunctionName === second?.FunctionName ? runs + 1 : found })
    }

    unreserved(100)
    expect(await findingsOf()).toMatchObject([{ what: 'Lambda concurrency', state: 'wrong' }])
    unreserved(101)
    expect(await findingsOf()).toStrictEqual([])
  })

  it('says where it could not look, without a message of AWS, and looks at the rest', async () => {
    route53.on(GetHostedZoneCommand).rejects(awsRefusal('AccessDenied'))

    const missing = await findingsOf()

    expect(missing).toStrictEqual([
      { what: 'domain', state: 'unclear', detail: 'AccessDenied', todo: 'use credentials that may read this' },
    ])
  })
})
