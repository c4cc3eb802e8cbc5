import { describe, expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { DOMAIN, stageWith } from '../../support/stage-options.ts'

const stage = stageWith({
  domain: DOMAIN,
  front: 'cloudfront',
  throttle: { requestsPerSecond: 200, burst: 100 },
  routeThrottles: {
    'POST /v1/payments': { requestsPerSecond: 10, burst: 20 },
    'POST /callbacks/xendit': { requestsPerSecond: 100, burst: 100 },
    $default: { requestsPerSecond: 50, burst: 50 },
  },
})
const front = synthesisedFront(stage)
const acl = front.only('AWS::WAFv2::WebACL').properties

const path = (SearchString: string, ...types: readonly string[]) => ({
  ByteMatchStatement: {
    FieldToMatch: { UriPath: {} },
    PositionalConstraint: 'EXACTLY',
    SearchString,
    TextTransformations: types.map((Type, Priority) => ({ Priority, Type })),
  },
})
const CALLBACKS = path('/callbacks/xendit', 'NONE')
const EXCEPT_CALLBACKS = { NotStatement: { Statement: CALLBACKS } }
const CREATES = {
  AndStatement: {
    Statements: [
      {
        ByteMatchStatement: {
          FieldToMatch: { Method: {} },
          PositionalConstraint: 'EXACTLY',
          SearchString: 'POST',
          TextTransformations: [{ Priority: 0, Type: 'NONE' }],
        },
      },
      path('/v1/payments', 'URL_DECODE', 'NORMALIZE_PATH'),
    ],
  },
}

type Rule = {
  readonly Name: string
  readonly Priority: number
  readonly Action?: unknown
  readonly OverrideAction?: unknown
  readonly Statement: {
    readonly ManagedRuleGroupStatement?: { readonly RuleActionOverrides: unknown }
    readonly RateBasedStatement?: { readonly Limit: number; readonly EvaluationWindowSec: number }
  }
  readonly VisibilityConfig: { readonly SampledRequestsEnabled: boolean }
}
const rulesOf = (template: typeof front) => template.only('AWS::WAFv2::WebACL').properties['Rules'] as readonly Rule[]
const rules = rulesOf(front)

const countedIn = (name: string) =>
  rules.find((rule) => rule.Name === name)?.Statement.ManagedRuleGroupStatement?.RuleActionOverrides

describe('firewall of the front', () => {
  it('has AWS’s rules on addresses, known attacks and common ones, in force', () => {
    expect(acl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } })
    const managed = rules.filter(({ Statement }) => Statement.ManagedRuleGroupStatement !== undefined)

    expect(managed.map(({ Name }) => Name)).toStrictEqual([
      'AWSManagedRulesAmazonIpReputationList',
      'AWSManagedRulesKnownBadInputsRuleSet',
      'AWSManagedRulesCommonRuleSet',
    ])
    for (const { OverrideAction, Statement, Name } of managed) {
      expect(OverrideAction).toStrictEqual({ None: {} })
      expect(Statement.ManagedRuleGroupStatement).toMatchObject({
        VendorName: 'AWS',
        Name,
        // AWS changes its rules unasked, and a refused callback delays money.
        ScopeDownStatement: EXCEPT_CALLBACKS,
      })
    }
    expect(new Set(rules.map(({ Priority }) => Priority)).size).toBe(rules.length)
  })

  it('only counts what a payment’s body may hold: size, and text that is dangerous to web pages', () => {
    const names = ['SizeRestrictions_BODY', 'CrossSiteScripting_BODY', 'GenericRFI_BODY', 'GenericLFI_BODY']

    expect(countedIn('AWSManagedRulesCommonRuleSet')).toStrictEqual(
      [...names, 'EC2MetaDataSSRF_BODY', 'NoUserAgent_HEADER'].map((Name) => ({ Name, ActionToUse: { Count: {} } })),
    )
    expect(countedIn('AWSManagedRulesKnownBadInputsRuleSet')).toStrictEqual([])
  })

  const limited = (template: typeof front) =>
    rulesOf(template).flatMap(({ Name, Statement: { RateBasedStatement: rate } }) => (rate ? [{ Name, ...rate }] : []))

  it('gives an address a tenth of what a route takes: of callbacks, of creates, and of the narrowest other route', () => {
    const rule = { AggregateKeyType: 'IP', EvaluationWindowSec: 60 }

    expect(limited(front)).toStrictEqual([
      { ...rule, Name: 'callbacks-per-address', Limit: 600, ScopeDownStatement: CALLBACKS },
      { ...rule, Name: 'creates-per-address', Limit: 60, ScopeDownStatement: CREATES },
      { ...rule, Name: 'requests-per-address', Limit: 300, ScopeDownStatement: EXCEPT_CALLBACKS },
    ])
  })

  it.each(['dev', 'prod'])('leaves one address far below what each route of %s takes', (name) => {
    const { throttle, routeThrottles } = deployedStage(name)
    const limits = limited(synthesisedFront(stageWith({ domain: DOMAIN, front: 'cloudfront' }, name)))
    const perSecond = (rule: string) => {
      const found = limits.find(({ Name }) => Name === rule)
      return (found?.Limit ?? Number.NaN) / (found?.EvaluationWindowSec ?? Number.NaN)
    }
    const routes = MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? []).map((route) => {
      const rule = route.includes('/callbacks/')
        ? 'callbacks-per-address'
        : route === 'POST /v1/payments'
          ? 'creates-per-address'
          : 'requests-per-address'
      const takes = (routeThrottles[route] ?? throttle).requestsPerSecond
      return { route, takes, addressGets: perSecond(rule) }
    })

    expect(routes.length).toBeGreaterThan(7)
    expect(routes.filter(({ takes, addressGets }) => !(addressGets <= takes / 10))).toStrictEqual([])
    // What the firewall can count at all.
    expect(limits.filter(({ Limit }) => Limit < 10)).toStrictEqual([])
  })

  it('is refused with a share of which a few addresses make the whole', () => {
    const wide = stageWith({ frontSettings: { ...stage.frontSettings, addressShare: 0.25 } })

    expect(() => synthesised(wide)).toThrow('0.2 of what a route takes at most')
  })

  it.each(['callbacks-per-address', 'creates-per-address', 'requests-per-address'])(
    'answers %s in the envelope, with the time to wait',
    (name) => {
      expect(rules.find(({ Name }) => Name === name)?.Action).toStrictEqual({
        Block: {
          CustomResponse: {
            ResponseCode: 429,
            CustomResponseBodyKey: 'rate_limit',
            ResponseHeaders: [{ Name: 'Retry-After', Value: '60' }],
          },
        },
      })
      const { Content, ContentType } = Object(acl['CustomResponseBodies'])['rate_limit']
      expect(ContentType).toBe('APPLICATION_JSON')
      expect(JSON.parse(Content)).toStrictEqual({
        message: expect.any(String),
        code: 'rate_limit',
      })
    },
  )

  it('logs what it refused or counted, without who asked and for what', () => {
    const [logging] = front.ofType('AWS::WAFv2::LoggingConfiguration')

    expect(logging?.properties).toMatchObject({
      LogDestinationConfigs: [expect.stringMatching(/:log-group:<aws-waf-logs-gateway-dev>$/)],
      LoggingFilter: { DefaultBehavior: 'DROP' },
      RedactedFields: [
        { SingleHeader: { Name: 'authorization' } },
        { SingleHeader: { Name: 'x-callback-token' } },
        { SingleHeader: { Name: 'cookie' } },
        { SingleHeader: { Name: 'idempotency-key' } },
        { UriPath: {} },
        { QueryString: {} },
      ],
    })
  })

  it('keeps no samples, which would show the headers', () => {
    expect(acl['VisibilityConfig']).toMatchObject({ SampledRequestsEnabled: false })
    expect(rules.map(({ VisibilityConfig }) => VisibilityConfig.SampledRequestsEnabled)).not.toContain(true)
  })
})
