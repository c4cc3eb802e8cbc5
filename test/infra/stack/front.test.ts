import { describe, expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type Answer, LEAST_DAYS, probeFront } from '../../../infra/stack/edge/probe-front.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { apiKeyText, bearerPattern } from '../../../shared/client/api-key-store.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { API, anApiClient, call } from '../../support/api-event.ts'
import { projectText } from '../../support/source-file.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { DOMAIN, QUOTA_STAGES, stageWith } from '../../support/stage-options.ts'
import { memoryDeps } from '../../support/test-deps.ts'

const BEHIND_FRONT = { domain: DOMAIN, front: 'cloudfront' } as const
const stage = stageWith({
  ...BEHIND_FRONT,
  throttle: { requestsPerSecond: 200, burst: 100 },
  routeThrottles: {
    'POST /v1/payments': { requestsPerSecond: 10, burst: 20 },
    'POST /callbacks/xendit': { requestsPerSecond: 100, burst: 100 },
    $default: { requestsPerSecond: 50, burst: 50 },
  },
})
const front = synthesisedFront(stage)

type Rate = {
  readonly Limit: number
  readonly EvaluationWindowSec: number
  readonly ScopeDownStatement?: unknown
}
type Rule = {
  readonly Name: string
  readonly Statement: {
    readonly RateBasedStatement?: Rate
    readonly ManagedRuleGroupStatement?: { Name: string; Version?: string }
  }
}
function rulesOf(template: typeof front) {
  return template.only('AWS::WAFv2::WebACL').properties['Rules'] as readonly Rule[]
}

describe('firewall of the front', () => {
  const limited = (template: typeof front) =>
    rulesOf(template).flatMap(({ Name, Statement: { RateBasedStatement: rate } }) =>
      rate ? [{ Name, ...rate }] : [],
    )

  const scopesOf = (template: typeof front) =>
    limited(template).map(({ ScopeDownStatement }) => ScopeDownStatement)

  it('counts only callbacks from a registered address of a merchant', () => {
    const settings = {
      ...stage.frontSettings,
      merchantAddresses: ['203.0.113.7/32', '198.51.100.0/24'],
    }
    const merchants = synthesisedFront({ ...stage, frontSettings: settings })
    const set = merchants.only('AWS::WAFv2::IPSet')
    const notRegistered = {
      NotStatement: { Statement: { IPSetReferenceStatement: { Arn: `<${set.logicalId}>.Arn` } } },
    }
    const besidesRegistered = (scope: unknown) => ({
      AndStatement: { Statements: [scope, notRegistered] },
    })

    const Addresses = settings.merchantAddresses
    const addresses = { Scope: 'CLOUDFRONT', IPAddressVersion: 'IPV4', Addresses }
    expect(set.properties).toMatchObject(addresses)
    const [callbacks, creates, others] = scopesOf(front)
    expect(scopesOf(merchants)).toStrictEqual([
      callbacks,
      besidesRegistered(creates),
      besidesRegistered(others),
    ])
  })

  it('refuses a create without a key in the stage’s form before the count, with the 401 of the gateway', async () => {
    const gateway = await call(memoryDeps(), API.createPayment, { body: {} })
    const [first] = rulesOf(front)
    const { ResponseCode, CustomResponseBodyKey: key } = Object(first).Action.Block.CustomResponse

    expect(first).toMatchObject({ Name: 'creates-without-key', Priority: 0 })
    const { [key]: body } = Object(
      front.only('AWS::WAFv2::WebACL').properties['CustomResponseBodies'],
    )
    expect([ResponseCode, JSON.parse(body.Content)]).toStrictEqual([gateway.status, gateway.body])
    expect(Object(first).Statement.AndStatement.Statements[0]).toStrictEqual(scopesOf(front)[1])
  })

  it('lets through the headers in which the gateway would find a key, and no others', () => {
    const pattern = new RegExp(bearerPattern('dev'))
    const key = apiKeyText(
      'dev',
      '360f0af8-a04d-4f4a-91b0-6f57756ef685' as ClientId,
      Buffer.alloc(32, 7),
    )

    for (const header of [`Bearer ${key}`, `bearer  ${key}`, `BEARER ${key}`])
      expect(header).toMatch(pattern)
    const invalidHeaders = [
      '',
      'Bearer',
      `Basic ${key}`,
      `Bearer ${key}x`,
      `Bearer ${key.replace('dev', 'prod')}`,
      key,
    ]
    for (const header of invalidHeaders) expect(header).not.toMatch(pattern)
  })

  it.each(['dev', 'prod'])(
    'limits one address far below the throttle of each route of %s, besides callbacks',
    (name) => {
      const { throttle, routeThrottles } = deployedStage(name)
      const limits = limited(synthesisedFront(stageWith(BEHIND_FRONT, name)))
      const routes = MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? []).filter(
        (route) => !route.includes('/callbacks/'),
      )
      const unsafe = routes.filter((route) => {
        const rule = route === 'POST /v1/payments' ? 'creates' : 'requests'
        const limit = limits.find(({ Name }) => Name === `${rule}-per-address`)
        const { requestsPerSecond } = routeThrottles[route] ?? throttle
        return !limit || limit.Limit / limit.EvaluationWindowSec > requestsPerSecond / 10
      })

      expect(routes.length).toBeGreaterThan(7)
      expect(unsafe).toStrictEqual([])
    },
  )

  it('has no limit that AWS refuses: below ten, or no whole number', () => {
    const routeThrottles = { 'POST /v1/payments': { requestsPerSecond: 1.01, burst: 1 } }
    const limits = limited(synthesisedFront(stageWith({ ...BEHIND_FRONT, routeThrottles })))

    expect(limits.map(({ Limit }) => Limit)).toStrictEqual([242, 10, 300])
  })

  it.each(QUOTA_STAGES)(
    'lets one address of the provider send the callbacks of two minutes of creates in one, at %i times the quota',
    (_, quotaStage) => {
      const creates = quotaStage.routeThrottles['POST /v1/payments']?.requestsPerSecond
      const [callbacks] = limited(synthesisedFront(quotaStage))

      // The provider calls twice for each payment.
      expect(callbacks).toMatchObject({
        Name: 'callbacks-per-address',
        Limit: 2 * 2 * 60 * Number(creates),
        EvaluationWindowSec: 60,
      })
    },
  )

  it('has the limits in prod that docs/merchants.md states', () => {
    const [, creates, all] = limited(synthesisedFront(stageWith(BEHIND_FRONT, 'prod')))
    const page = projectText('docs/merchants.md')

    expect(page).toContain(
      `| ${creates?.Limit} creates, ${all?.Limit.toLocaleString('en')} in all.`,
    )
  })
})

describe('CloudFront before the API', () => {
  it('changes when the secret is rotated, because CloudFormation reads the secret again only then', () => {
    const frontSettings = { ...stage.frontSettings, originSecretRotation: 2 }
    const rotated = synthesisedFront({ ...stage, frontSettings })
    const distribution = (template: typeof front) =>
      template.only('AWS::CloudFront::Distribution').properties

    expect(distribution(rotated)).not.toStrictEqual(distribution(front))
  })

  it('refers to nothing in the gateway’s stack, which is in another region', () => {
    expect(JSON.stringify([front.resources, front.outputs])).not.toMatch(
      /ImportValue|GetStackOutput|ExportsOutput/,
    )
  })
})

it('managed rules have pinned versions, besides the lists of addresses, which have none', () => {
  const versions = rulesOf(front).flatMap(({ Statement: { ManagedRuleGroupStatement: group } }) =>
    group ? [[group.Name, group.Version]] : [],
  )

  expect(versions).toStrictEqual([
    ['AWSManagedRulesAmazonIpReputationList', undefined],
    ['AWSManagedRulesKnownBadInputsRuleSet', expect.stringMatching(/^Version_\d+\.\d+$/)],
    ['AWSManagedRulesCommonRuleSet', expect.stringMatching(/^Version_\d+\.\d+$/)],
  ])
})

describe('API domain', () => {
  it.each(['api.pay.example.org', 'apipay.example', 'example'])(
    'refuses %s, which is not in its zone',
    (name) => {
      expect(() => synthesised(stageWith({ domain: { ...DOMAIN, name } }))).toThrow(
        'is not in the zone pay.example',
      )
    },
  )
})

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-11-26T00:00:00Z')
const PROBE = { host: 'pay.example', unknownKey: unknownKey('test'), keySecret: 'canary' }

/** The answers of the real handler, with a TLS certificate that ends in 60 days. */
async function probeWith(change: {
  readonly unknown?: Partial<Answer>
  readonly canary?: Partial<Answer>
  readonly key?: string | undefined
}) {
  const deps = memoryDeps()
  const ask = (authorization: string) => call(deps, API.getBalance, { caller: { authorization } })
  const answers = {
    unknown: await ask(`Bearer ${PROBE.unknownKey}`),
    canary: await ask((await anApiClient(deps)).authorization),
  }
  const asked: string[] = []
  const certificateEndsAt = NOW_MS + 60 * DAY_MS
  const result = await probeFront(
    {
      ask: async (_, key) => {
        asked.push(key)
        const which = key === PROBE.unknownKey ? 'unknown' : 'canary'
        return { ...answers[which], certificateEndsAt, ...change[which] }
      },
      canaryKey: async () => ('key' in change ? change.key : 'the canary key'),
      nowMs: () => NOW_MS,
    },
    PROBE,
  ).catch((error: unknown) => String(error))
  return { result, asked }
}

describe('the probe of the front', () => {
  it('accepts the gateway as it answers, and reads the balance of the canary merchant', async () => {
    expect(await probeWith({})).toStrictEqual({
      result: { days: 60, canary: 'read' },
      asked: [PROBE.unknownKey, 'the canary key'],
    })
  })

  it('asks only with the unknown key while no operator has put a key', async () => {
    expect(await probeWith({ key: undefined })).toStrictEqual({
      result: { days: 60, canary: 'no key' },
      asked: [PROBE.unknownKey],
    })
  })

  it.each([
    ['the firewall answers an unknown key', { unknown: { status: 403, body: 'blocked' } }],
    ['another 401 than the envelope of the gateway', { unknown: { body: { message: 'no' } } }],
    ['the table cannot be read', { canary: { status: 500 } }],
    ['the canary merchant gets another answer', { canary: { body: {} } }],
    [
      'the certificate ends soon',
      { unknown: { certificateEndsAt: NOW_MS + LEAST_DAYS * DAY_MS - 1 } },
    ],
    ['the certificate has no readable end', { unknown: { certificateEndsAt: Number.NaN } }],
  ])('fails if %s', async (_, change) => {
    expect((await probeWith(change)).result).toMatch(/^Error: /)
  })
})
