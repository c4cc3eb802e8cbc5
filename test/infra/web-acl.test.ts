import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { synthesisedFront } from '../support/stack-template.ts'
import { DOMAIN, stageWith } from '../support/stage-options.ts'

const front = synthesisedFront(
  stageWith({
    domain: DOMAIN,
    front: 'cloudfront',
    frontSettings: { requestsPerAddress: 1_234, originSecretRotation: 1 },
  }),
)
const [acl] = front.ofType('AWS::WAFv2::WebACL')

/** Where the provider's news comes in is no rule's business. */
const EXCEPT_CALLBACKS = {
  NotStatement: {
    Statement: {
      ByteMatchStatement: {
        FieldToMatch: { UriPath: {} },
        PositionalConstraint: 'EXACTLY',
        SearchString: '/callbacks/xendit',
        TextTransformations: [{ Priority: 0, Type: 'NONE' }],
      },
    },
  },
}

const Group = v.object({
  VendorName: v.string(),
  Name: v.string(),
  RuleActionOverrides: v.array(v.unknown()),
  ScopeDownStatement: v.unknown(),
})
const Acl = v.object({
  Scope: v.literal('CLOUDFRONT'),
  DefaultAction: v.strictObject({ Allow: v.object({}) }),
  CustomResponseBodies: v.object({ rate_limit: v.object({ Content: v.string(), ContentType: v.string() }) }),
  Rules: v.array(
    v.object({
      Name: v.string(),
      Priority: v.number(),
      Action: v.optional(v.unknown()),
      OverrideAction: v.optional(v.unknown()),
      Statement: v.object({
        ManagedRuleGroupStatement: v.optional(Group),
        RateBasedStatement: v.optional(v.unknown()),
      }),
      VisibilityConfig: v.object({ CloudWatchMetricsEnabled: v.boolean(), SampledRequestsEnabled: v.boolean() }),
    }),
  ),
})
const { Rules: rules, CustomResponseBodies: bodies } = v.parse(Acl, acl?.properties)

const countedIn = (name: string) =>
  rules.find((rule) => rule.Name === name)?.Statement.ManagedRuleGroupStatement?.RuleActionOverrides

describe('firewall of the front', () => {
  it('has AWS’s rules on addresses, known attacks and common ones, in force', () => {
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

  it('refuses an address beyond the stage’s number, except where the provider’s news comes in', () => {
    expect(rules.find(({ Name }) => Name === 'requests-per-address')?.Statement.RateBasedStatement).toStrictEqual({
      AggregateKeyType: 'IP',
      Limit: 1_234,
      EvaluationWindowSec: 300,
      ScopeDownStatement: EXCEPT_CALLBACKS,
    })
  })

  it('answers it in the envelope, with the time to wait', () => {
    expect(rules.find(({ Name }) => Name === 'requests-per-address')?.Action).toStrictEqual({
      Block: {
        CustomResponse: {
          ResponseCode: 429,
          CustomResponseBodyKey: 'rate_limit',
          ResponseHeaders: [{ Name: 'Retry-After', Value: '300' }],
        },
      },
    })
    expect(bodies.rate_limit.ContentType).toBe('APPLICATION_JSON')
    expect(JSON.parse(bodies.rate_limit.Content)).toStrictEqual({
      message: expect.any(String),
      code: 'rate_limit',
    })
  })

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
    expect(acl?.properties['VisibilityConfig']).toMatchObject({ SampledRequestsEnabled: false })
    expect(rules.map(({ VisibilityConfig }) => VisibilityConfig.SampledRequestsEnabled)).not.toContain(true)
  })
})
