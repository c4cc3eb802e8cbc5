import { describe, expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const stageOf = (template: ReturnType<typeof synthesised>) => template.ofType('AWS::ApiGatewayV2::Stage')[0]

describe('throttles of the API', () => {
  it.each([
    ['dev', [50, 100], { 'POST /v1/payments': [20, 40] }],
    [
      'prod',
      [500, 250],
      { 'POST /v1/payments': [83, 166], 'POST /callbacks/xendit': [1_000, 500], $default: [300, 100] },
    ],
  ] as const)(
    'of %s are those of the stage, narrow where the table carries less, and buy no metrics',
    (name, all, own) => {
      const limits = ([ThrottlingRateLimit, ThrottlingBurstLimit]: readonly [number, number]) => ({
        DetailedMetricsEnabled: false,
        ThrottlingRateLimit,
        ThrottlingBurstLimit,
      })
      const { properties = {} } = stageOf(synthesised(name)) ?? {}
      const routes = Object.entries(own).map(([route, numbers]) => [route, limits(numbers)])

      expect(properties['DefaultRouteSettings']).toStrictEqual(limits(all))
      expect(properties['RouteSettings']).toStrictEqual(Object.fromEntries(routes))
    },
  )

  it('are set after the routes they name exist', () => {
    const template = synthesised('prod')

    expect(stageOf(template)?.dependsOn).toStrictEqual(
      expect.arrayContaining(template.ofType('AWS::ApiGatewayV2::Route').map(({ logicalId }) => logicalId)),
    )
  })

  const creating = deployedStage('dev').routeThrottles

  it.each(['GET /v1/payment', 'POST /v1/payments/', 'post /v1/payments', '$Default', ''])(
    'are refused for %j, which no function answers',
    (route) => {
      const stage = stageWith({ routeThrottles: { ...creating, [route]: { requestsPerSecond: 1, burst: 1 } } })

      expect(() => synthesised(stage)).toThrow(`no function answers ${route}`)
    },
  )

  it('can be given to every route of the manifest', () => {
    const routes = MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? [])
    const throttle = { requestsPerSecond: 7, burst: 7 }
    const stage = stageWith({ routeThrottles: Object.fromEntries(routes.map((route) => [route, throttle])) })

    expect(Object.keys(Object(stageOf(synthesised(stage))?.properties['RouteSettings']))).toStrictEqual(routes)
  })

  it('never let a route through faster than Jakarta lets an account', () => {
    const { throttle, routeThrottles } = deployedStage('prod')

    for (const { requestsPerSecond, burst } of [throttle, ...Object.values(routeThrottles)]) {
      expect(requestsPerSecond).toBeLessThanOrEqual(2_500)
      expect(burst).toBeLessThanOrEqual(1_250)
    }
  })
})
