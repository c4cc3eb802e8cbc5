import { describe, expect, it } from 'vitest'
import { isHttp, queuesOf, routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OTHER_FIGURES, stageWith } from '../../support/stage-options.ts'

/* Figures of triggers that depend on each other. Each figure by itself: test/infra/templates. */

it('a closed stage starts nothing by queue or schedule, closes every function, and is refused with canaries', () => {
  const closed = synthesised(stageWith({ role: 'closed' }))

  expect(new Set(closed.each('AWS::Lambda::EventSourceMapping', 'Enabled'))).toStrictEqual(new Set([false]))
  expect(new Set(closed.each('AWS::Events::Rule', 'State'))).toStrictEqual(new Set(['DISABLED']))
  const environments = closed.each('AWS::Lambda::Function', 'Environment').map((one) => JSON.stringify(one))
  expect(environments.filter((text) => text.includes(String.raw`{\"isClosed\":true`))).toHaveLength(MANIFEST.length)
  expect(() => synthesised(stageWith({ role: 'closed' }, 'prod'))).toThrow('set deployment: alias-only')
})

describe('the HTTP API', () => {
  const stageOf = (template: ReturnType<typeof synthesised>) => template.only('AWS::ApiGatewayV2::Stage')

  it('outlasts every function it calls, so that the answer is always ours', () => {
    const longest = Math.max(...MANIFEST.filter(isHttp).map(({ timeoutSeconds }) => timeoutSeconds))
    const [timeoutMs, ...others] = new Set(synthesised('dev').each('AWS::ApiGatewayV2::Integration', 'TimeoutInMillis'))

    expect(others).toStrictEqual([])
    expect(longest * 1_000).toBeLessThan(Number(timeoutMs))
  })

  it('sets the throttles of routes after the routes exist', () => {
    const template = synthesised('prod')

    expect(stageOf(template).dependsOn).toStrictEqual(
      expect.arrayContaining(template.ofType('AWS::ApiGatewayV2::Route').map(({ logicalId }) => logicalId)),
    )
  })

  it.each(['GET /v1/payment', '$Default'])('takes no throttle of %j, which no function answers', (route) => {
    const { routeThrottles } = deployedStage('dev')
    const stage = stageWith({ routeThrottles: { ...routeThrottles, [route]: { requestsPerSecond: 1, burst: 1 } } })

    expect(() => synthesised(stage)).toThrow(`no function answers ${route}`)
  })

  it('takes a throttle of every route of the manifest', () => {
    const { properties } = stageOf(synthesised(OTHER_FIGURES))

    expect(Object.keys(Object(properties['RouteSettings']))).toStrictEqual(
      MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? []),
    )
  })

  it('never lets a route through faster than Jakarta lets an account', () => {
    const { throttle, routeThrottles } = deployedStage('prod')

    for (const { requestsPerSecond, burst } of [throttle, ...Object.values(routeThrottles)]) {
      expect(requestsPerSecond).toBeLessThanOrEqual(2_500)
      expect(burst).toBeLessThanOrEqual(1_250)
    }
  })
})

it('a queue hides a batch for six times its reader’s timeout, or for two seconds more than it where a claim guards it', () => {
  const hidden = synthesised('prod')
    .all('AWS::SQS::Queue')
    .flatMap(({ QueueName, VisibilityTimeout: seconds }) => (seconds === undefined ? [] : [[QueueName, seconds]]))
  const expected = MANIFEST.flatMap(({ trigger, timeoutSeconds }) =>
    queuesOf(trigger).map(({ queue }) => [
      `gateway-prod-${queue}`,
      queue.startsWith('webhooks') ? timeoutSeconds + 2 : 6 * timeoutSeconds,
    ]),
  )

  expect(Object.fromEntries(hidden)).toStrictEqual(Object.fromEntries(expected))
})

it('the sweep runs at the time the stage has set', () => {
  const expressions = synthesised(OTHER_FIGURES).each('AWS::Events::Rule', 'ScheduleExpression')

  expect(expressions).toContain('cron(30 17 * * ? *)')
  expect(expressions).not.toContain('cron(0 2 * * ? *)')
})
