import {
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  DetectStackDriftCommand,
  type StackResourceDrift,
  type StackStatus,
} from '@aws-sdk/client-cloudformation'
import { GetAliasCommand } from '@aws-sdk/client-lambda'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts'
import { beforeEach, describe, expect, it } from 'vitest'
import { REFERENCES } from '../../../infra/operate/check/check-references.ts'
import { runDoctor } from '../../../infra/operate/doctor/run-doctor.ts'
import { deployedStage, stackNameOf } from '../../../infra/stack/stage.ts'
import { projectText } from '../../support/source-file.ts'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING } from '../../support/stage-options.ts'
import { awsRefusal, captureOutput } from './around-tools.ts'
import { type ExaminedStage, examinedStage } from './examined-stage.ts'

let prod: ExaminedStage

/** Findings on the watch stack are left out: the mocks answer the same for every stack. */
beforeEach(async () => {
  prod = await examinedStage('prod', { front: 'none', copies: undefined })
})

async function problems() {
  return [...new Set((await prod.notOk()).filter((line) => !line.includes('watch')))]
}

function aDifference(PropertyPath: string, ExpectedValue = 'hush', ActualValue = 'hush-hush') {
  return { PropertyPath, ExpectedValue, ActualValue, DifferenceType: 'NOT_EQUAL' } as const
}
function aDrift(
  StackResourceDriftStatus: StackResourceDrift['StackResourceDriftStatus'],
  ResourceType: string,
  ...PropertyDifferences: ReturnType<typeof aDifference>[]
) {
  return {
    StackId: 's1',
    LogicalResourceId: 'L1',
    PhysicalResourceId: 'its-name',
    ResourceType,
    StackResourceDriftStatus,
    Timestamp: new Date(0),
    PropertyDifferences,
  }
}
function setDrifts(...StackResourceDrifts: StackResourceDrift[]) {
  return prod.aws.cloudFormation
    .on(DescribeStackResourceDriftsCommand)
    .resolves({ StackResourceDrifts })
}

it('the doctor looks for the backup stack in its own region', async () => {
  prod = await examinedStage('prod', { front: 'none' })

  const found = (await prod.examine()).filter(({ what }) => what.includes('backup stack'))
  const looks = prod.aws.cloudFormation.commandCalls(DescribeStacksCommand, {
    StackName: 'gateway-prod-copies',
  })

  expect(found.map(({ state }) => state)).toStrictEqual(['ok'])
  const regions = looks.map(({ thisValue }) => Object(thisValue).config.region())
  expect(await Promise.all(regions)).toStrictEqual(['ap-southeast-1'])
})

it('the doctor names an alias that was moved by hand, and one that serves two versions', async () => {
  const create = { FunctionName: 'gateway-prod-api-create-payment', Name: 'live' }
  const cancel = { FunctionName: 'gateway-prod-api-cancel-payment', Name: 'live' }
  const weights = {
    FunctionVersion: '7',
    RoutingConfig: { AdditionalVersionWeights: { '8': 0.1 } },
  }
  prod.aws.lambda.on(GetAliasCommand, create).resolves({ FunctionVersion: '6' })
  prod.aws.lambda.on(GetAliasCommand, cancel).resolves(weights)

  expect(await problems()).toStrictEqual([
    'wrong alias of gateway-prod-api-create-payment: serves version 6; its stack has version 7',
    'wrong alias of gateway-prod-api-cancel-payment: serves version 7 and 8; its stack has ' +
      'version 7',
  ])
})

it('the doctor names each stack that still points at an earlier data stack, with the command', async () => {
  const made = new Date('2026-11-20T04:00:00Z')
  const stack = { StackStatus: 'UPDATE_COMPLETE', Outputs: prod.aws.Outputs } as const
  const times = {
    'gateway-prod-data': { CreationTime: made },
    // A later update read the outputs again.
    'gateway-prod': { CreationTime: new Date(0), LastUpdatedTime: made },
    'gateway-prod-operators': { CreationTime: new Date(0) },
  }
  for (const [StackName, time] of Object.entries(times))
    prod.aws.cloudFormation
      .on(DescribeStacksCommand, { StackName })
      .resolves({ Stacks: [{ StackName, ...stack, ...time }] })

  const found = (await prod.examine()).filter(({ what }) => what === 'references between stacks')

  expect(found).toStrictEqual([
    {
      what: 'references between stacks',
      state: 'wrong',
      detail:
        'gateway-prod-operators still has keys, secrets or ids of an earlier gateway-prod-data',
      todo:
        'aws cloudformation update-stack --stack-name gateway-prod-operators ' +
        '--use-previous-template --capabilities CAPABILITY_NAMED_IAM --tags ' +
        'Key=reads,Value=2026-11-20T04:00:00Z',
    },
  ])
})

it('the doctor knows every stack that reads outputs of another stack', () => {
  const stage = deployedStage('prod')

  expect(synthesised(EVERYTHING).references).toStrictEqual(
    new Set(REFERENCES.map(([a, b]) => `${stackNameOf(stage, a)} reads ${stackNameOf(stage, b)}`)),
  )
})

/** Without these stacks, the doctor cannot check any other part. */
const STACKS = ['gateway-prod-data', 'gateway-prod', 'gateway-prod-operators']

describe('the drift that CloudFormation reports to the doctor', () => {
  it('is requested once, and awaited in steps of five seconds', async () => {
    await prod.examine()

    const stackNames = prod.aws.cloudFormation
      .commandCalls(DetectStackDriftCommand)
      .map(({ args }) => args[0].input.StackName)
    expect(stackNames).toStrictEqual([...STACKS, 'gateway-prod-watch'])
    expect(prod.waitedMs()).toBe(15_000)
  })

  it('names every property that was changed by hand, on every page, and shows no value', async () => {
    const differences = [aDifference('/MessageRetentionPeriod'), aDifference('/VisibilityTimeout')]
    prod.aws.cloudFormation
      .on(DescribeStackResourceDriftsCommand)
      .resolves({
        StackResourceDrifts: [aDrift('MODIFIED', 'AWS::SQS::Queue', ...differences)],
        NextToken: 'second',
      })
      .on(DescribeStackResourceDriftsCommand, { NextToken: 'second' })
      .resolves({ StackResourceDrifts: [aDrift('DELETED', 'AWS::Events::Rule')] })

    const findings = await prod.examine()

    expect(await problems()).toStrictEqual([
      'wrong AWS::SQS::Queue its-name: was changed: /MessageRetentionPeriod, /VisibilityTimeout',
      'wrong AWS::Events::Rule its-name: is missing',
    ])
    expect(JSON.stringify(findings)).not.toContain('hush')
  })

  it('names the document that restores a changed or missing table', async () => {
    setDrifts(aDrift('DELETED', 'AWS::DynamoDB::GlobalTable'))
    const documented = projectText('docs/operations.md')

    const finding = (await prod.examine()).find(({ state }) => state === 'wrong')

    expect(documented).toContain(`## ${finding?.todo?.match(/"(.+)"/)?.[1] ?? 'no heading'}\n`)
  })

  it('is ignored when a table shows the id of its key instead of the ARN', async () => {
    const key = 'arn:aws:kms:ap-southeast-3:000000000000:key/8e2f7638'
    const path = '/Replicas/0/SSESpecification/KMSMasterKeyId'
    const keyIs = (id: string) =>
      setDrifts(aDrift('MODIFIED', 'AWS::DynamoDB::GlobalTable', aDifference(path, key, id)))

    keyIs('8e2f7638')
    expect(await problems()).toStrictEqual([])
    keyIs('638')
    expect(await problems()).toStrictEqual([
      `wrong AWS::DynamoDB::GlobalTable its-name: was changed: ${path}`,
    ])
  })

  const detectionEnds = (DetectionStatus: 'DETECTION_FAILED' | 'DETECTION_IN_PROGRESS') =>
    prod.aws.cloudFormation
      .on(DescribeStackDriftDetectionStatusCommand)
      .resolves({
        StackId: 's1',
        StackDriftDetectionId: 'd1',
        Timestamp: new Date(0),
        DetectionStatus,
      })

  it('counts even if CloudFormation could not check everything', async () => {
    detectionEnds('DETECTION_FAILED')
    setDrifts(aDrift('UNKNOWN', 'AWS::KMS::Key'), aDrift('DELETED', 'AWS::SQS::Queue'))

    expect(await problems()).toStrictEqual([
      expect.stringMatching('unclear AWS::KMS::Key its-name: '),
      'wrong AWS::SQS::Queue its-name: is missing',
      ...STACKS.map((name) => expect.stringMatching(`unclear drift of ${name}: `)),
    ])
  })

  it('is awaited for ten minutes at most', async () => {
    detectionEnds('DETECTION_IN_PROGRESS')

    expect((await problems())[0]).toMatch('unclear drift of gateway-prod-data: ')
    // For three stacks at the same time, and then for the stack of the alarms.
    expect(prod.waitedMs()).toBe(1_200_000)
  })

  const inState = (StackStatus: StackStatus) => prod.aws.stacksAre({ StackStatus })
  const isMissing = () =>
    prod.aws.cloudFormation
      .on(DescribeStacksCommand)
      .rejects(awsRefusal('ValidationError', 'Stack does not exist'))

  it.each([
    ['unclear', ' is UPDATE_ROLLBACK_IN_PROGRESS$', () => inState('UPDATE_ROLLBACK_IN_PROGRESS')],
    ['wrong', ' is ROLLBACK_COMPLETE$', () => inState('ROLLBACK_COMPLETE')],
    ['wrong', '', isMissing],
  ])('ends the examination, %s, when the stack is missing or%s', async (state, said, happens) => {
    prod = await examinedStage('prod')
    happens()

    expect(await prod.examine()).toMatchObject(
      STACKS.map((name) => ({ state, detail: expect.stringMatching(name + said) })),
    )
    expect(prod.waitedMs()).toBe(0)
  })

  const deniedDrift = () =>
    prod.aws.cloudFormation.on(DetectStackDriftCommand).rejects(awsRefusal('AccessDenied'))

  it.each([
    [
      'may not be requested',
      deniedDrift,
      /^unclear drift of .*: AccessDenied$/,
      'use credentials that may read this',
    ],
    [
      'failed',
      () => inState('UPDATE_ROLLBACK_FAILED'),
      / is UPDATE_ROLLBACK_FAILED$/,
      'continue-update-rollback',
    ],
    ['has rolled back', () => inState('UPDATE_ROLLBACK_COMPLETE'), undefined, ''],
  ])('does not stop the other checks when it %s', async (_, happens, said, todo) => {
    happens()

    const findings = await prod.examine()

    expect(await problems()).toStrictEqual(
      said ? STACKS.map(() => expect.stringMatching(said)) : [],
    )
    expect(findings.find(({ state }) => state !== 'ok')?.todo ?? '').toContain(todo)
    expect(findings.length).toBeGreaterThan(10)
  })
})

describe('npm run doctor', () => {
  const doctor = ({ io }: ExaminedStage, ...argv: readonly string[]) =>
    captureOutput(() => runDoctor(argv, { env: { AWS_REGION: 'ap-southeast-3' }, ...io }))

  it('ends with 0 when nothing is wrong', async () => {
    const text = expect.stringMatching(/^ok {14}drift of gateway-dev: none$/m)
    expect(await doctor(await examinedStage('dev'), '--stage', 'dev')).toStrictEqual({
      code: 0,
      text,
    })
  })

  it('ends with 1 when something is wrong, and prints JSON with --json', async () => {
    prod.aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const { code, text } = await doctor(prod, '--stage', 'prod', '--json')

    const topic = expect.objectContaining({ what: 'topic gateway-prod-alerts', state: 'wrong' })
    expect([code, JSON.parse(text)]).toStrictEqual([1, expect.arrayContaining([topic])])
  })

  it('examines no stage of another account than that in the stage’s file', async () => {
    prod.aws.sts.on(GetCallerIdentityCommand).resolves({ Account: '000000000000' })

    const text = expect.stringMatching(/^wrong +credentials: account 0{12} in .* 123456789012/)
    expect(await doctor(prod, '--stage', 'prod')).toStrictEqual({ code: 1, text })
    expect(prod.aws.cloudFormation.calls()).toStrictEqual([])
  })

  it('ends with 3 when nothing is wrong but a check was not possible', async () => {
    const dev = await examinedStage('dev')
    dev.aws.sns.on(ListSubscriptionsByTopicCommand).rejects(awsRefusal('AccessDenied'))
    expect((await doctor(dev, '--stage', 'dev')).code).toBe(3)

    dev.aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('CredentialsProviderError'))

    expect((await doctor(dev, '--stage', 'dev')).code).toBe(3)
  })
})
