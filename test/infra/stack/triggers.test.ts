import { describe, expect, it } from 'vitest'
import { isHttp, queuesOf, routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OTHER_FIGURES, stageWith } from '../../support/stage-options.ts'

/* Figures of triggers that depend on each other. Each figure by itself: test/infra/templates. */

it('a closed stage starts nothing by queue or schedule, and is refused with canaries', () => {
  const closed = synthesised(stageWith({ role: 'closed' }))

  expect(new Set(closed.each('AWS::Lambda::EventSourceMapping', 'Enabled'))).toStrictEqual(new Set([false]))
  expect(new Set(closed.each('AWS::Events::Rule', 'State'))).toStrictEqual(new Set(['DISABLED']))
  expect(() => synthesised(stageWith({ role: 'closed' }, 'prod'))).toThrow('set deployment: alias-only')
})

describe('the HTTP API', () => {
  it('outlasts every function it calls, so that the answer is always ours', () => {
    const longest = Math.max(...MANIFEST.filter(isHttp).map(({ timeoutSeconds }) => timeoutSeconds))
    const timeouts = synthesised('dev').each('AWS::ApiGatewayV2::Integration', 'TimeoutInMillis').map(Number)

    expect(Math.min(...timeouts)).toBeGreaterThan(longest * 1_000)
  })

  it('takes a throttle of every route of the manifest, and sets it after the route exists', () => {
    const { only, ofType } = synthesised(OTHER_FIGURES)
    const { properties, dependsOn } = only('AWS::ApiGatewayV2::Stage')

    expect(Object.keys(Object(properties['RouteSettings']))).toStrictEqual(
      MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? []),
    )
    const routes = ofType('AWS::ApiGatewayV2::Route').map(({ logicalId }) => logicalId)
    expect(dependsOn).toStrictEqual(expect.arrayContaining(routes))
  })

  it.each(['GET /v1/payment', '$Default'])('takes no throttle of %j, which no function answers', (route) => {
    const { routeThrottles } = deployedStage('dev')
    const stage = stageWith({ routeThrottles: { ...routeThrottles, [route]: { requestsPerSecond: 1, burst: 1 } } })

    expect(() => synthesised(stage)).toThrow(`no function answers ${route}`)
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
  const expected = MANIFEST.flatMap(({ trigger, timeoutSeconds: seconds }) =>
    queuesOf(trigger).map(({ queue }) => [
      `gateway-prod-${queue}`,
      queue.startsWith('webhooks') ? seconds + 2 : 6 * seconds,
    ]),
  )

  expect(Object.fromEntries(hidden)).toStrictEqual(Object.fromEntries(expected))
})

it('the sweep runs at the time the stage has set', () => {
  const expressions = synthesised(OTHER_FIGURES).each('AWS::Events::Rule', 'ScheduleExpression')

  expect(expressions).toContain('cron(30 17 * * ? *)')
  expect(expressions).not.toContain('cron(0 2 * * ? *)')
})
