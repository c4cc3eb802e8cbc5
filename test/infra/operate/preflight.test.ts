import {
  CloudFormationClient,
  DescribeStacksCommand,
  type StackStatus,
} from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { beforeEach, describe, expect, it } from 'vitest'
import { type PreflightInput, preflight } from '../../../infra/operate/deploy/preflight.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { synthesised } from '../../support/stack-template.ts'
import { READY_PRODUCTION } from '../../support/stage-options.ts'
import { awsRefusal, mocked } from './around-tools.ts'
import { notOk } from './examined-stage.ts'

const cloudFormation = mocked(CloudFormationClient)
const lambda = mocked(LambdaClient)
const route53 = mocked(Route53Client)
const sts = mocked(STSClient)

function stackIs(StackName: string, StackStatus: StackStatus, OutputValue?: string) {
  const Outputs = OutputValue === undefined ? [] : [{ OutputKey: 'BootstrapVersion', OutputValue }]
  const Stacks = [{ StackName, CreationTime: new Date(0), StackStatus, Outputs }]
  return cloudFormation.on(DescribeStacksCommand, { StackName }).resolves({ Stacks })
}
function stackIsAbsent(StackName: string) {
  return cloudFormation
    .on(DescribeStacksCommand, { StackName })
    .rejects(awsRefusal('ValidationError', 'Stack does not exist'))
}
function unreserved(UnreservedConcurrentExecutions: number) {
  return lambda
    .on(GetAccountSettingsCommand)
    .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions } })
}
function zone(name: string, isPrivate = false) {
  return {
    HostedZone: {
      Id: 'Z1',
      Name: `${name}.`,
      CallerReference: 'r',
      Config: { PrivateZone: isPrivate },
    },
  }
}

/** An account in which everything is as it should be, and which has none of the stage yet. */
beforeEach(() => {
  sts
    .on(GetCallerIdentityCommand)
    .resolves({ Account: '000000000000', Arn: 'arn:aws:iam::000000000000:user/ayu' })
  stackIs('CDKToolkit', 'UPDATE_COMPLETE', '28')
  stackIsAbsent('gateway-prod')
  route53.on(GetHostedZoneCommand, { Id: 'Z1' }).resolves(zone('example.org'))
  unreserved(990)
})

function look(input: Partial<PreflightInput> = {}) {
  return preflight({
    stage: READY_PRODUCTION,
    region: 'ap-southeast-3',
    root: PROJECT_ROOT,
    ...input,
  })
}
async function found(input: Partial<PreflightInput> = {}) {
  return notOk((await look(input)).findings)
}

describe('preflight', () => {
  it('finds nothing missing in an account that has everything', async () => {
    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.map(({ what }) => what).join(', ')).toBe(
      'stage settings, packages, credentials, CDK bootstrap in ap-southeast-3, CDK bootstrap in us-east-1, ' +
        'domain pay.example.org, stack, Lambda concurrency',
    )
    expect(findings.find(({ what }) => what === 'credentials')?.detail).toBe(
      'account 000000000000 in ap-southeast-3, arn:aws:iam::000000000000:user/ayu',
    )
    expect(first).toBe(true)
  })

  it('misses a region, and asks AWS nothing without one', async () => {
    expect(await found({ region: undefined })).toStrictEqual([
      expect.stringMatching(/^wrong region: /),
    ])
    expect(sts.calls()).toHaveLength(0)
  })

  it.each([
    ['ExpiredTokenException', 'aws sso login, or set AWS_PROFILE'],
    ['ENOTFOUND', 'check the network, then try again'],
    ['TimeoutError', 'check the network, then try again'],
  ])('ends at %s with what to do about it, and shows no message of AWS', async (code, todo) => {
    const name = code.startsWith('E') && code === code.toUpperCase() ? 'Error' : code
    sts.on(GetCallerIdentityCommand).rejects(Object.assign(awsRefusal(name), { code }))

    expect((await look()).findings.at(-1)).toStrictEqual({
      what: 'credentials',
      state: 'wrong',
      detail: code,
      todo,
    })
    expect(cloudFormation.calls()).toHaveLength(0)
  })

  it.each([
    ['is not done', () => stackIsAbsent('CDKToolkit'), 'not done yet'],
    [
      'is too old',
      () => stackIs('CDKToolkit', 'UPDATE_COMPLETE', '7'),
      'version 7, needs 8 or later',
    ],
    [
      'says no version',
      () => stackIs('CDKToolkit', 'UPDATE_COMPLETE'),
      'version unknown, needs 8 or later',
    ],
  ])('misses the bootstrap when it %s', async (_, make, detail) => {
    make()

    const regions = ['ap-southeast-3', 'us-east-1']
    expect(await found()).toStrictEqual(
      regions.map((region) => `wrong CDK bootstrap in ${region}: ${detail}`),
    )
    expect(await found({ stage: { ...READY_PRODUCTION, front: 'none' } })).toHaveLength(1)
  })

  it.each([
    ['is not there', () => Promise.reject(awsRefusal('NoSuchHostedZone')), 'not there'],
    ['has another name', () => Promise.resolve(zone('example.net')), 'example.net.'],
    ['is private', () => Promise.resolve(zone('example.org', true)), 'private'],
  ])('misses a hosted zone that %s', async (_, answer, is) => {
    route53.on(GetHostedZoneCommand).callsFake(answer)

    expect(await found()).toStrictEqual([
      `wrong domain pay.example.org: zone Z1 of this account is ${is}`,
    ])
  })

  it('says where it could not look, without a message of AWS, and looks at the rest', async () => {
    route53.on(GetHostedZoneCommand).rejects(awsRefusal('AccessDenied'))

    expect(await found()).toStrictEqual(['unclear domain: AccessDenied'])
  })
})

it('preflight of a first deployment wants a hundred executions left beside the reserved ones, and none if none are', async () => {
  const reserved = synthesised('prod')
    .all('AWS::Lambda::Function')
    .reduce((sum, { ReservedConcurrentExecutions: runs = 0 }) => sum + Number(runs), 0)

  unreserved(100 + reserved)
  expect(await found()).toStrictEqual([])
  unreserved(99 + reserved)
  expect(await found()).toStrictEqual([expect.stringMatching(/^wrong Lambda concurrency: /)])
  expect(reserved).toBeGreaterThan(500)
  unreserved(10)
  stackIsAbsent('gateway-dev')
  expect(await found({ stage: deployedStage('dev') })).toStrictEqual([])
})

it.each([
  // What follows these is a first deployment.
  ['ROLLBACK_COMPLETE', 'is not there yet', true],
  ['ROLLBACK_FAILED', 'is not there yet', true],
  ['REVIEW_IN_PROGRESS', 'is not there yet', true],
  ['CREATE_FAILED', 'gateway-prod is CREATE_FAILED', true],
  ['UPDATE_COMPLETE', 'gateway-prod is UPDATE_COMPLETE', false],
  ['UPDATE_IN_PROGRESS', 'gateway-prod is UPDATE_IN_PROGRESS', false],
] as const)(
  'preflight leaves to CloudFormation what it says itself of a stack that is %s; a later deployment wants no concurrency',
  async (status, detail, isFirst) => {
    stackIs('gateway-prod', status)
    if (!isFirst) unreserved(0)

    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.find(({ what }) => what === 'stack')?.detail).toBe(detail)
    expect(first).toBe(isFirst)
  },
)
