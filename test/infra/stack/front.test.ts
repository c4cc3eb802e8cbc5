import { describe, expect, it } from 'vitest'
import { functionName, isHttp } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { DeployedStage } from '../../../infra/stack/stage.ts'
import { ORIGIN_HEADER } from '../../../shared/runtime/origin-guard.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { DOMAIN, READY_PRODUCTION, stageWith } from '../../support/stage-options.ts'

const stage = stageWith({ domain: DOMAIN, front: 'cloudfront' })
const gateway = synthesised(stage)
const front = synthesisedFront(stage)

const distributionOf = (template: typeof front) =>
  Object(template.only('AWS::CloudFront::Distribution').properties['DistributionConfig'])

// The fixed ids AWS gives its managed policies.
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'
const ALL_VIEWER_EXCEPT_HOST_HEADER = 'b689b0a8-53d0-40ab-baf2-68738e2966ac'

describe('the budget of a stage', () => {
  it('is told to those who read alarms, at 80 % and when more is forecast', () => {
    const budget = synthesisedFront({ ...READY_PRODUCTION, monthlyBudgetUsd: 300 }).only('AWS::Budgets::Budget')
    const told = (NotificationType: string, Threshold: number) => ({
      Notification: { NotificationType, Threshold, ComparisonOperator: 'GREATER_THAN', ThresholdType: 'PERCENTAGE' },
      Subscribers: [{ SubscriptionType: 'EMAIL', Address: 'oncall@gateway.example.org' }],
    })

    expect(budget.properties).toStrictEqual({
      Budget: {
        BudgetName: 'gateway-prod',
        BudgetType: 'COST',
        TimeUnit: 'MONTHLY',
        BudgetLimit: { Amount: 300, Unit: 'USD' },
      },
      NotificationsWithSubscribers: [told('ACTUAL', 80), told('FORECASTED', 100)],
    })
  })

  it('is none where the stage names no amount', () => {
    expect(front.ofType('AWS::Budgets::Budget')).toStrictEqual([])
  })
})

describe('CloudFront before the API', () => {
  it('keeps no error either, so that one merchant’s answer is never another’s', () => {
    // Every status that CloudFront keeps for ten seconds where nothing else is said.
    expect(distributionOf(front).CustomErrorResponses).toStrictEqual(
      [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((ErrorCode) => ({
        ErrorCode,
        ErrorCachingMinTTL: 0,
      })),
    )
  })

  it('keeps nothing, and hands everything but the host on over HTTPS, after its firewall', () => {
    const { CacheBehaviors, DefaultCacheBehavior, IPV6Enabled, Origins, ViewerCertificate, WebACLId } =
      distributionOf(front)

    expect(CacheBehaviors).toBeUndefined()
    expect(Origins).toHaveLength(1)
    expect(IPV6Enabled).toBe(false)
    expect(front.all('AWS::Route53::RecordSet').map(({ Type }) => Type)).toStrictEqual(['A'])
    expect(ViewerCertificate).toMatchObject({ MinimumProtocolVersion: 'TLSv1.2_2021' })
    expect(WebACLId).toBe(`<${front.only('AWS::WAFv2::WebACL').logicalId}>.Arn`)
    expect(DefaultCacheBehavior).toMatchObject({
      CachePolicyId: CACHING_DISABLED,
      OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST_HEADER,
      ViewerProtocolPolicy: 'https-only',
      AllowedMethods: expect.arrayContaining(['GET', 'POST', 'DELETE']),
      Compress: false,
    })
    expect(Origins[0].CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
      OriginReadTimeout: 30,
    })
  })

  it('shows the origin the certificate of the stage, which is in the front’s region and account', () => {
    const certificateOf = (of: DeployedStage) =>
      distributionOf(synthesisedFront(of)).Origins[0].CustomOriginConfig['OriginMtlsConfig']

    expect(certificateOf(READY_PRODUCTION)).toStrictEqual({
      ClientCertificateArn: 'arn:aws:acm:us-east-1:<AWS::AccountId>:certificate/11111111-2222-4333-8444-555555555555',
    })
    expect(certificateOf(stage)).toBeUndefined()
  })

  it('calls the API by its name with the secret that the functions ask for, which is in no template', () => {
    const [origin] = distributionOf(front).Origins

    expect(origin.DomainName).toBe('origin.api.pay.example')
    expect(origin.OriginCustomHeaders).toStrictEqual([
      {
        HeaderName: ORIGIN_HEADER,
        HeaderValue: '{{resolve:secretsmanager:gateway/dev/origin:SecretString:current::}}',
      },
    ])
  })

  it('changes when the secret is rotated, since CloudFormation reads it again only then', () => {
    const rotated = synthesisedFront({ ...stage, frontSettings: { ...stage.frontSettings, originSecretRotation: 2 } })

    expect(distributionOf(rotated).Comment).not.toBe(distributionOf(front).Comment)
  })

  it('writes a line a request without path, query or headers', () => {
    const { properties } = front.only('AWS::Logs::Delivery')

    expect(properties['RecordFields']).toStrictEqual(
      expect.arrayContaining(['date', 'time', 'c-ip', 'cs-method', 'sc-status', 'time-taken']),
    )
    expect(JSON.stringify(properties)).not.toMatch(/uri|query|cookie|referer|user-agent|host|forwarded/i)
  })

  it('refers to nothing in the gateway’s stack, which is in another region', () => {
    expect(JSON.stringify([front.resources, front.outputs])).not.toMatch(/ImportValue|GetStackOutput|ExportsOutput/)
  })

  it('is refused without a domain', () => {
    expect(() => synthesisedFront(stageWith({ front: 'cloudfront' }))).toThrow('CloudFront needs a domain')
  })
})

describe('origin secret', () => {
  it('is generated, copied to where the front is, and goes with the stack', () => {
    const secret = gateway
      .ofType('AWS::SecretsManager::Secret')
      .find(({ properties }) => properties['Name'] === 'gateway/dev/origin')

    expect(secret).toMatchObject({
      deletionPolicy: 'Delete',
      properties: {
        GenerateSecretString: {
          SecretStringTemplate: '{}',
          GenerateStringKey: 'current',
          PasswordLength: 64,
          ExcludePunctuation: true,
        },
        ReplicaRegions: { 'Fn::If': [expect.any(String), [{ Region: 'us-east-1' }], '<AWS::NoValue>'] },
      },
    })
    expect(secret?.properties).not.toHaveProperty('SecretString')
  })

  // Who may read it: `grants.test.ts`.
  it('is asked for by the functions that answer HTTP, all of them and no others', () => {
    const told = gateway
      .all('AWS::Lambda::Function')
      .filter(({ Environment }) => JSON.stringify(Environment).includes('"cloudfront"'))
      .map(({ FunctionName }) => FunctionName)

    expect(told).toStrictEqual(MANIFEST.filter(isHttp).map((spec) => functionName('dev', spec)))
    expect(told).toContain('gateway-dev-receive-provider-callback')
  })
})
