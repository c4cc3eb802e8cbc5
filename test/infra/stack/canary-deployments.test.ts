import { describe, expect, it } from 'vitest'
import { functionName, isHttp, runsByItself } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const template = synthesised(stageWith({ deployment: 'canary' }))
const HTTP = MANIFEST.filter((spec) => isHttp(spec) && !spec.lookup).map((spec) => functionName('dev', spec))
const ALIASED = MANIFEST.filter(runsByItself).map((spec) => `<${functionName('dev', spec)}>`)

const aliases = template.ofType('AWS::Lambda::Alias')
const tried = aliases.filter(({ properties }) => HTTP.includes(String(properties['FunctionName']).slice(1, -1)))
const groups = new Map(template.ofType('AWS::CodeDeploy::DeploymentGroup').map((group) => [group.logicalId, group]))
const alarms = new Map(template.ofType('AWS::CloudWatch::Alarm').map((alarm) => [alarm.logicalId, alarm.properties]))

/** The deployment group that moves an alias. */
const groupOf = (alias: (typeof aliases)[number]) => {
  const { CodeDeployLambdaAliasUpdate: update } = Object(alias.updatePolicy)
  return groups.get(String(Object(update).DeploymentGroupName).replace(/^<(.*)>$/, '$1'))
}

const alarmsOf = (alias: (typeof aliases)[number]) => {
  const { Alarms: watched } = Object(groupOf(alias)?.properties['AlarmConfiguration'])
  return [watched].flat().map((alarm) => alarms.get(String(Object(alarm).Name).replace(/^<(.*)>$/, '$1')))
}

/** A metric of an expression, summed by the minute. */
const summed = (Id: string, Metric: object) =>
  expect.objectContaining({
    Id,
    MetricStat: { Metric: expect.objectContaining(Metric), Period: 60, Stat: 'Sum' },
    ReturnData: false,
  })

describe('canary deployments', () => {
  it('give an alias to what runs by itself, and try what payments wait for', () => {
    expect(aliases.map(({ properties }) => properties['Name'])).toStrictEqual(ALIASED.map(() => 'live'))
    expect(aliases.map(({ properties }) => properties['FunctionName'])).toStrictEqual(ALIASED)
    expect(tried.map(groupOf)).not.toContain(undefined)
    expect(groups.size).toBe(tried.length)
    expect(template.ofType('AWS::Lambda::Version')).toHaveLength(ALIASED.length)
    // An alias can only be moved back to a version that is still there.
    expect(new Set(template.ofType('AWS::Lambda::Version').map(({ deletionPolicy }) => deletionPolicy))).toStrictEqual(
      new Set(['Retain']),
    )
  })

  it('have requests invoke the alias, which alone may be invoked', () => {
    const answering = MANIFEST.filter(isHttp).map((spec) => `<${functionName('dev', spec)}>`)
    const live = aliases
      .filter(({ properties }) => answering.includes(String(properties['FunctionName'])))
      .map(({ logicalId }) => `<${logicalId}>`)
    const invoked = template.each('AWS::ApiGatewayV2::Integration', 'IntegrationUri')
    const allowed = template
      .ofType('AWS::Lambda::Permission')
      .filter(({ properties }) => properties['Principal'] === 'apigateway.amazonaws.com')
      .map(({ properties }) => properties['FunctionName'])

    expect(invoked).toHaveLength(live.length)
    const named = (targets: readonly unknown[]) =>
      new Set(targets.map((target) => String(target).replace(/\.Arn$/, '')))
    expect(named(invoked)).toStrictEqual(new Set(live))
    expect(named(allowed)).toStrictEqual(new Set(live))
  })

  it.each(tried)('take it back when it crashes or the API answers with errors: $properties.FunctionName', (alias) => {
    const name = String(alias.properties['FunctionName']).replace(/^<(.*)>$/, '$1')

    expect(alarmsOf(alias)).toMatchObject([
      {
        Namespace: 'AWS/Lambda',
        MetricName: 'Errors',
        Dimensions: [
          { Name: 'FunctionName', Value: `<${name}>` },
          { Name: 'Resource', Value: `<${name}>:live` },
        ],
        Statistic: 'Sum',
        Period: 60,
        Threshold: 1,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        TreatMissingData: 'notBreaching',
      },
      {
        // A payment that the provider refuses is answered 500 too, and is no fault of a version.
        Metrics: expect.arrayContaining([
          expect.objectContaining({ Expression: 'FILL(errors, 0) - FILL(refused, 0)', ReturnData: true }),
          summed('errors', { Namespace: 'AWS/ApiGateway', MetricName: '5xx' }),
          summed('refused', {
            Namespace: 'PaymentGateway',
            MetricName: 'Payments',
            Dimensions: [
              { Name: 'outcome', Value: 'create_refused' },
              { Name: 'service', Value: 'gateway-dev' },
            ],
          }),
        ]),
        Threshold: 5,
      },
    ])
  })

  it('may move this stage’s aliases and read their alarms, and no more', () => {
    const role = template
      .ofType('AWS::IAM::Role')
      .find(({ properties }) => JSON.stringify(properties).includes('codedeploy.amazonaws.com'))
    const own = (service: string, resource: string) =>
      `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>:${resource}`

    expect(role?.properties).not.toHaveProperty('ManagedPolicyArns')
    expect(role?.properties['Policies']).toMatchObject([
      {
        PolicyDocument: {
          Statement: [
            {
              Effect: 'Allow',
              Action: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
              Resource: own('lambda', 'function:gateway-dev-*'),
            },
            {
              Effect: 'Allow',
              Action: 'cloudwatch:DescribeAlarms',
              Resource: own('cloudwatch', 'alarm:*'),
            },
          ],
        },
      },
    ])
    expect([...alarms.values()].map(({ AlarmName }) => String(AlarmName))).toStrictEqual(
      [...alarms.values()].map(() => expect.stringMatching(/^gateway-dev-canary-/)),
    )
  })

  it('are how production is deployed, and no part of a stage that is not', () => {
    expect(synthesised('prod').ofType('AWS::CodeDeploy::DeploymentGroup')).toHaveLength(HTTP.length)
    expect(
      synthesised('dev').resources.filter(({ type }) => /Alias|Version|CodeDeploy/.test(type) && !type.includes('KMS')),
    ).toStrictEqual([])
  })
})

describe('a deployment by alias alone', () => {
  const urgent = synthesised(stageWith({ deployment: 'alias-only' }))
  const wiring = (of: typeof urgent) =>
    ['AWS::Lambda::Alias', 'AWS::ApiGatewayV2::Integration', 'AWS::Lambda::Permission'].flatMap((type) =>
      of.ofType(type).map(({ logicalId, properties }) => ({ logicalId, ...properties, FunctionVersion: undefined })),
    )

  it('leaves the wiring of the API as a canary has it, so that changing over replaces nothing', () => {
    expect(wiring(urgent)).toStrictEqual(wiring(template))
  })

  it('asks no alarm and waits for nothing', () => {
    expect(urgent.resources.filter(({ type }) => type.startsWith('AWS::CodeDeploy::'))).toStrictEqual([])
    expect(urgent.ofType('AWS::Lambda::Alias').map(({ updatePolicy }) => updatePolicy)).toStrictEqual(
      ALIASED.map(() => undefined),
    )
  })
})
