import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
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
import { awsRefusal, mockOf } from './around-tools.ts'
import { notOk } from './examined-stage.ts'

const cloudFormation = mockOf(CloudFormationClient)
const lambda = mockOf(LambdaClient)
const route53 = mockOf(Route53Client)
const sts = mockOf(STSClient)

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
function setUnreserved(UnreservedConcurrentExecutions: number) {
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

beforeEach(() => {
  sts
    .on(GetCallerIdentityCommand)
    .resolves({ Account: '000000000000', Arn: 'arn:aws:iam::000000000000:user/ayu' })
  stackIs('CDKToolkit', 'UPDATE_COMPLETE', '8')
  for (const part of ['', '-data', '-operators', '-watch', '-front'])
    stackIsAbsent(`gateway-prod${part}`)
  route53.on(GetHostedZoneCommand, { Id: 'Z1' }).resolves(zone('example.org'))
  setUnreserved(990)
})

function look(input: Partial<PreflightInput> = {}) {
  return preflight({
    stage: READY_PRODUCTION,
    region: 'ap-southeast-3',
    root: PROJECT_ROOT,
    ...input,
  })
}
async function problems(input: Partial<PreflightInput> = {}) {
  return notOk((await look(input)).findings)
}

describe('preflight', () => {
  it('finds nothing missing in an account that has everything', async () => {
    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.map(({ what }) => what).join(', ')).toBe(
      'stage settings, packages, credentials, CDK bootstrap in ap-southeast-3, CDK bootstrap ' +
        'in us-east-1, CDK bootstrap in ap-southeast-1, ' +
        'domain pay.example.org, stack, Lambda concurrency',
    )
    expect(findings.find(({ what }) => what === 'credentials')?.detail).toBe(
      'account 000000000000 in ap-southeast-3, arn:aws:iam::000000000000:user/ayu',
    )
    expect(first).toBe(true)
  })

  it.each([
    ['another account', { account: '111111111111', region: 'ap-southeast-3' }],
    ['another region', { account: '000000000000', region: 'ap-southeast-1' }],
  ])('refuses credentials of %s than the stage names', async (_, location) => {
    expect(await problems({ stage: { ...READY_PRODUCTION, location } })).toStrictEqual([
      'wrong credentials: account 000000000000 in ap-southeast-3, but the stage is in account ' +
        `${location.account} in ${location.region}`,
    ])
    expect(cloudFormation.calls()).toHaveLength(0)
  })

  it('reports a missing region, and sends nothing to AWS without a region', async () => {
    expect(await problems({ region: undefined })).toStrictEqual([
      expect.stringMatching(/^wrong region: /),
    ])
    expect(sts.calls()).toHaveLength(0)
  })

  it.each([
    ['ExpiredTokenException', 'aws sso login, or set AWS_PROFILE'],
    ['ENOTFOUND', 'check the network, then try again'],
    ['TimeoutError', 'check the network, then try again'],
  ])('ends at %s with the remedy, and shows no message of AWS', async (code, todo) => {
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
  ])('reports the bootstrap when it %s', async (_, make, detail) => {
    make()

    const regions = ['ap-southeast-3', 'us-east-1', 'ap-southeast-1']
    expect(await problems()).toStrictEqual(
      regions.map((region) => `wrong CDK bootstrap in ${region}: ${detail}`),
    )
    const plain = { ...READY_PRODUCTION, front: 'none', copies: undefined } as const
    expect(await problems({ stage: plain })).toHaveLength(1)
  })

  it.each([
    ['does not exist', () => Promise.reject(awsRefusal('NoSuchHostedZone')), 'not there'],
    ['has another name', () => Promise.resolve(zone('example.net')), 'example.net.'],
    ['is private', () => Promise.resolve(zone('example.org', true)), 'private'],
  ])('reports a hosted zone that %s', async (_, answer, fault) => {
    route53.on(GetHostedZoneCommand).callsFake(answer)

    expect(await problems()).toStrictEqual([
      `wrong domain pay.example.org: zone Z1 of this account is ${fault}`,
    ])
  })

  it('names a check that was not possible, without a message of AWS, and does the other checks', async () => {
    route53.on(GetHostedZoneCommand).rejects(awsRefusal('AccessDenied'))

    expect(await problems()).toStrictEqual(['unclear domain: AccessDenied'])
  })
})

it('preflight of a first deployment needs a hundred unreserved executions if the stage reserves executions', async () => {
  const reserved = synthesised('prod')
    .all('AWS::Lambda::Function')
    .reduce((sum, { ReservedConcurrentExecutions: runs = 0 }) => sum + Number(runs), 0)

  setUnreserved(100 + reserved)
  expect(await problems()).toStrictEqual([])
  setUnreserved(99 + reserved)
  expect(await problems()).toStrictEqual([expect.stringMatching(/^wrong Lambda concurrency: /)])
  expect(reserved).toBeGreaterThan(500)
  setUnreserved(10)
  for (const part of ['', '-front']) stackIsAbsent(`gateway-dev${part}`)
  expect(await problems({ stage: deployedStage('dev') })).toStrictEqual([])
})

it('preflight refuses a stage without a front while the stack of its front is there', async () => {
  stackIs('gateway-prod-front', 'UPDATE_COMPLETE')

  expect(await problems({ stage: { ...READY_PRODUCTION, front: 'none' } })).toStrictEqual([
    'wrong front: gateway-prod-front is still there',
  ])
  expect(await problems()).toStrictEqual([])
})

it('preflight refuses a deployment while a stack points at an earlier data stack', async () => {
  const made = { CreationTime: new Date('2026-11-20T04:00:00Z'), StackStatus: 'CREATE_COMPLETE' }
  stackIs('gateway-prod', 'UPDATE_COMPLETE')
  cloudFormation
    .on(DescribeStacksCommand, { StackName: 'gateway-prod-data' })
    .resolves({ Stacks: [{ StackName: 'gateway-prod-data', ...made } as Stack] })

  expect(await problems()).toStrictEqual([
    'wrong references between stacks: gateway-prod still has keys, secrets or ids of an earlier ' +
      'gateway-prod-data',
  ])
})

it.each([
  // After these states, a deployment counts as the first.
  ['ROLLBACK_COMPLETE', 'is not there yet', true],
  ['ROLLBACK_FAILED', 'is not there yet', true],
  ['REVIEW_IN_PROGRESS', 'is not there yet', true],
  ['CREATE_FAILED', 'gateway-prod is CREATE_FAILED', true],
  ['UPDATE_COMPLETE', 'gateway-prod is UPDATE_COMPLETE', false],
  ['UPDATE_IN_PROGRESS', 'gateway-prod is UPDATE_IN_PROGRESS', false],
] as const)(
  'preflight accepts a stack that is %s, because CloudFormation checks it; a later deployment needs no concurrency',
  async (status, detail, isFirst) => {
    stackIs('gateway-prod', status)
    if (!isFirst) setUnreserved(0)

    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.find(({ what }) => what === 'stack')?.detail).toBe(detail)
    expect(first).toBe(isFirst)
  },
)
