import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  DetectStackDriftCommand,
  type PropertyDifference,
  type StackResourceDrift,
  type StackStatus,
} from '@aws-sdk/client-cloudformation'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { beforeEach, describe, expect, it } from 'vitest'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { runDoctor } from '../../../infra/operate/doctor/run-doctor.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { awsRefusal } from './aws-refusal.ts'
import { type ExaminedStage, examinedStage } from './examined-stage.ts'
import { printedBy } from './printed-by.ts'

let prod: ExaminedStage

/** Without a front; what is said of the stack that watches is left out, to which CloudFormation answers as to the first. */
beforeEach(async () => {
  prod = await examinedStage('prod', { front: 'none' })
})

const notOk = async () => {
  const said = (await prod.notOk()).filter(({ what }) => !what.includes('watch'))
  return said.filter((one, at) => said.findIndex((other) => isDeepStrictEqual(one, other)) === at)
}

const aDrift = (status: StackResourceDrift['StackResourceDriftStatus'], type: string, ...paths: readonly string[]) => ({
  StackId: 's1',
  LogicalResourceId: 'L1',
  PhysicalResourceId: 'its-name',
  ResourceType: type,
  StackResourceDriftStatus: status,
  Timestamp: new Date(0),
  PropertyDifferences: paths.map((PropertyPath) => aDifference(PropertyPath)),
})
const aDifference = (PropertyPath: string, ExpectedValue = 'hush', ActualValue = 'hush-hush'): PropertyDifference => ({
  PropertyPath,
  ExpectedValue,
  ActualValue,
  DifferenceType: 'NOT_EQUAL',
})
const drifted = (...drifts: readonly StackResourceDrift[]) =>
  prod.aws.cloudFormation.on(DescribeStackResourceDriftsCommand).resolves({ StackResourceDrifts: [...drifts] })

/** Without them there is nothing else to look at. */
const STACKS = ['gateway-prod-data', 'gateway-prod', 'gateway-prod-operators']

describe('what CloudFormation says to the doctor', () => {
  it('is asked once and waited for, five seconds at a time', async () => {
    await prod.examine()

    expect(
      prod.aws.cloudFormation.commandCalls(DetectStackDriftCommand).map(({ args }) => args[0].input),
    ).toStrictEqual([...STACKS, 'gateway-prod-watch'].map((StackName) => ({ StackName })))
    expect(prod.waitedMs()).toBe(15_000)
  })

  it('names what was changed by hand, property by property, and shows no value', async () => {
    drifted(
      aDrift('MODIFIED', 'AWS::SQS::Queue', '/MessageRetentionPeriod', '/VisibilityTimeout'),
      aDrift('MODIFIED', 'AWS::Lambda::Function', '/Environment/Variables/GATEWAY_PROVIDER_URL'),
      aDrift('DELETED', 'AWS::Events::Rule'),
    )

    const findings = await notOk()

    expect(findings.map(({ what, state, detail }) => `${state}: ${what} ${detail}`)).toStrictEqual([
      'wrong: AWS::SQS::Queue its-name was changed: /MessageRetentionPeriod, /VisibilityTimeout',
      'wrong: AWS::Lambda::Function its-name was changed: /Environment/Variables/GATEWAY_PROVIDER_URL',
      'wrong: AWS::Events::Rule its-name is missing',
    ])
    expect(JSON.stringify(findings)).not.toContain('hush')
  })

  it('is read to its last page', async () => {
    prod.aws.cloudFormation
      .on(DescribeStackResourceDriftsCommand)
      .resolves({ StackResourceDrifts: [], NextToken: 'second' })
      .on(DescribeStackResourceDriftsCommand, { NextToken: 'second' })
      .resolves({ StackResourceDrifts: [aDrift('DELETED', 'AWS::SQS::Queue')] })

    expect(await notOk()).toMatchObject([{ what: 'AWS::SQS::Queue its-name', detail: 'is missing' }])
  })

  it('says where a table that is changed or missing is restored from', async () => {
    drifted(aDrift('DELETED', 'AWS::DynamoDB::GlobalTable'))
    const documented = readFileSync(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8')

    const [finding] = await notOk()

    expect(finding).toMatchObject({ state: 'wrong', detail: 'is missing' })
    expect(documented).toContain(`## ${finding?.todo?.match(/"(.+)"/)?.[1] ?? 'no heading'}\n`)
  })

  it('is not believed that a table has another key when it answers the same key’s id', async () => {
    const key = 'arn:aws:kms:ap-southeast-3:000000000000:key/8e2f7638'
    const path = '/Replicas/0/SSESpecification/KMSMasterKeyId'
    const table = aDrift('MODIFIED', 'AWS::DynamoDB::GlobalTable')
    const keyIs = (id: string) => drifted({ ...table, PropertyDifferences: [aDifference(path, key, id)] })

    keyIs('8e2f7638')
    expect(await notOk()).toStrictEqual([])
    keyIs('638')
    expect(await notOk()).toMatchObject([{ state: 'wrong', detail: `was changed: ${path}` }])
  })

  const detectionEnds = (DetectionStatus: 'DETECTION_FAILED' | 'DETECTION_IN_PROGRESS') =>
    prod.aws.cloudFormation
      .on(DescribeStackDriftDetectionStatusCommand)
      .resolves({ StackId: 's1', StackDriftDetectionId: 'd1', Timestamp: new Date(0), DetectionStatus })

  it('counts in part when it could not look at everything', async () => {
    detectionEnds('DETECTION_FAILED')
    drifted(aDrift('UNKNOWN', 'AWS::KMS::Key'), aDrift('DELETED', 'AWS::SQS::Queue'))

    expect(await notOk()).toMatchObject([
      { what: 'AWS::KMS::Key its-name', state: 'unclear' },
      { what: 'AWS::SQS::Queue its-name', state: 'wrong' },
      ...STACKS.map((name) => ({ what: `drift of ${name}`, state: 'unclear' })),
    ])
  })

  it('is waited for ten minutes and no longer', async () => {
    detectionEnds('DETECTION_IN_PROGRESS')

    const findings = await notOk()

    expect(findings[0]).toMatchObject({ what: 'drift of gateway-prod-data', state: 'unclear' })
    // For three stacks at the same time, and then for that of the alarms.
    expect(prod.waitedMs()).toBe(1_200_000)
  })

  it('does not keep the doctor from all else when it may not be asked', async () => {
    prod.aws.cloudFormation.on(DetectStackDriftCommand).rejects(awsRefusal('AccessDenied'))

    const findings = await prod.examine()

    expect(await notOk()).toMatchObject(
      STACKS.map((name) => ({
        what: `drift of ${name}`,
        state: 'unclear',
        detail: 'AccessDenied',
        todo: 'use credentials that may read this',
      })),
    )
    expect(findings.length).toBeGreaterThan(10)
  })

  const inState = async (StackStatus: StackStatus) => {
    const { Stacks: [stack] = [] } = await awsClients('r').cloudFormation.send(new DescribeStacksCommand({}))
    prod.aws.cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: stack && [{ ...stack, StackStatus }] })
  }

  it.each([
    ['UPDATE_ROLLBACK_IN_PROGRESS', 'unclear'],
    ['ROLLBACK_COMPLETE', 'wrong'],
  ] as const)('ends the examination when the stack is %s', async (status, state) => {
    prod = await examinedStage('prod')
    await inState(status)

    expect(await prod.examine()).toMatchObject(STACKS.map((name) => ({ state, detail: `${name} is ${status}` })))
    expect(prod.waitedMs()).toBe(0)
  })

  const SOMETHING = STACKS.map(() => ({ state: 'wrong', todo: expect.stringContaining('continue-update-rollback') }))

  it.each<{ readonly status: StackStatus; readonly said: readonly object[] }>([
    { status: 'UPDATE_ROLLBACK_FAILED', said: SOMETHING },
    { status: 'UPDATE_ROLLBACK_COMPLETE', said: [] },
  ])(
    'is something to do only when the stack has failed, and everything is looked at: $status',
    async ({ status, said }) => {
      await inState(status)

      const findings = await prod.examine()

      expect(await notOk()).toMatchObject(said)
      expect(findings.length).toBeGreaterThan(10)
    },
  )

  it('is that the stage is not deployed, and nothing else is looked at', async () => {
    prod.aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('ValidationError', 'Stack does not exist'))

    expect(await prod.examine()).toMatchObject(STACKS.map(() => ({ state: 'wrong' })))
  })
})

describe('npm run doctor', () => {
  const doctor = ({ io }: ExaminedStage, ...argv: readonly string[]) =>
    printedBy(() => runDoctor(argv, { env: { AWS_REGION: 'ap-southeast-3' }, ...io }))

  it('ends with 0 when nothing is wrong', async () => {
    const { code, text } = await doctor(await examinedStage('dev'), '--stage', 'dev')

    expect(code).toBe(0)
    expect(text).toMatch(/^ok {14}drift of gateway-dev: none$/m)
  })

  it('ends with 1 when something is, and says it as JSON when asked', async () => {
    prod.aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const { code, text } = await doctor(prod, '--stage', 'prod', '--json')

    expect(code).toBe(1)
    expect(JSON.parse(text)).toContainEqual(
      expect.objectContaining({ what: 'topic gateway-prod-alerts', state: 'wrong' }),
    )
  })

  it('ends with 3 when nothing is wrong but something could not be looked at', async () => {
    const dev = await examinedStage('dev')
    dev.aws.sns.on(ListSubscriptionsByTopicCommand).rejects(awsRefusal('AccessDenied'))
    expect((await doctor(dev, '--stage', 'dev')).code).toBe(3)

    dev.aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('CredentialsProviderError'))

    expect((await doctor(dev, '--stage', 'dev')).code).toBe(3)
  })

  it.each([
    [[], 'name the stage with --stage NAME'],
    [['--stage', 'local'], 'stage local is reserved for the local gateway'],
  ])('ends with 2 when called as %j, and says why', async (argv, message) => {
    const { code, text } = await doctor(prod, ...argv)

    expect(code).toBe(2)
    expect(text.split('\n')[0]).toContain(message)
  })
})
