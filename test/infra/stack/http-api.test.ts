import { describe, expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OTHER_FIGURES, stageWith } from '../../support/stage-options.ts'

const stageOf = (template: ReturnType<typeof synthesised>) => template.ofType('AWS::ApiGatewayV2::Stage')[0]

describe('throttles of the API', () => {
  it('are set after the routes they name exist', () => {
    const template = synthesised('prod')

    expect(stageOf(template)?.dependsOn).toStrictEqual(
      expect.arrayContaining(template.ofType('AWS::ApiGatewayV2::Route').map(({ logicalId }) => logicalId)),
    )
  })

  const creating = deployedStage('dev').routeThrottles

  it.each(['GET /v1/payment', '$Default'])('are refused for %j, which no function answers', (route) => {
    const stage = stageWith({ routeThrottles: { ...creating, [route]: { requestsPerSecond: 1, burst: 1 } } })

    expect(() => synthesised(stage)).toThrow(`no function answers ${route}`)
  })

  it('can be given to every route of the manifest', () => {
    const routes = MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? [])
    const { properties } = stageOf(synthesised(OTHER_FIGURES)) ?? {}

    expect(Object.keys(Object(properties?.['RouteSettings']))).toStrictEqual(routes)
  })

  it('never let a route through faster than Jakarta lets an account', () => {
    const { throttle, routeThrottles } = deployedStage('prod')

    for (const { requestsPerSecond, burst } of [throttle, ...Object.values(routeThrottles)]) {
      expect(requestsPerSecond).toBeLessThanOrEqual(2_500)
      expect(burst).toBeLessThanOrEqual(1_250)
    }
  })
})
