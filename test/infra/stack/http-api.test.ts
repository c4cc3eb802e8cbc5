import { describe, expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const stageOf = (template: ReturnType<typeof synthesised>) => template.ofType('AWS::ApiGatewayV2::Stage')[0]

describe('throttles of the API', () => {
  it('in dev are those of every route but creating, which the table carries less of, and buy no metrics by route', () => {
    const { properties } = stageOf(synthesised('dev')) ?? {}

    expect(properties?.['DefaultRouteSettings']).toStrictEqual({
      DetailedMetricsEnabled: false,
      ThrottlingRateLimit: 50,
      ThrottlingBurstLimit: 100,
    })
    expect(properties?.['RouteSettings']).toStrictEqual({
      'POST /v1/payments': { ThrottlingRateLimit: 14, ThrottlingBurstLimit: 28, DetailedMetricsEnabled: false },
    })
  })

  it('in production are wide where money comes in, and on creating what a fresh table carries', () => {
    const { properties } = stageOf(synthesised('prod')) ?? {}

    expect(properties?.['DefaultRouteSettings']).toStrictEqual({
      DetailedMetricsEnabled: false,
      ThrottlingRateLimit: 500,
      ThrottlingBurstLimit: 250,
    })
    expect(properties?.['RouteSettings']).toStrictEqual({
      'POST /v1/payments': { ThrottlingRateLimit: 58, ThrottlingBurstLimit: 116, DetailedMetricsEnabled: false },
      'POST /callbacks/xendit': {
        ThrottlingRateLimit: 1_000,
        ThrottlingBurstLimit: 500,
        DetailedMetricsEnabled: false,
      },
      $default: { ThrottlingRateLimit: 300, ThrottlingBurstLimit: 100, DetailedMetricsEnabled: false },
    })
  })

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
